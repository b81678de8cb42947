"""Rows and indexes of what is remembered: imports, the search index, edits, usage."""
