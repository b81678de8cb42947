"""What a database's schema should be, and whether it is."""
