"""The commands about the database as a whole."""
