"""What may be asked: the table of operations, their requests and replies, and how they travel."""
