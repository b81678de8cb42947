"""Rows of the landing queue."""
