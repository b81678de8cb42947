"""Rows of task files, lines, conversations and review rounds."""
