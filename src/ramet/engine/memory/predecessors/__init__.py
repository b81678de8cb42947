"""Rows of the systems before Ramet, on their way into the record."""
