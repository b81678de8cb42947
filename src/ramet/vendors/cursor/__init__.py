"""Cursor, the editor and its command line."""
