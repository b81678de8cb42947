"""Rows of child sessions, their results and their trees."""
