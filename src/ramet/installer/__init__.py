"""Entries in the files that other programs read: shown first, put in as text, taken out again to the last byte."""
