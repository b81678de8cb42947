"""Exports: archives of Ramet, ATIF and Markdown."""
