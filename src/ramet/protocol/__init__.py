"""The protocol: the table of operations, their requests and replies, and the wire format."""
