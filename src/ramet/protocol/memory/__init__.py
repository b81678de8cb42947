"""Requests about what is remembered: import, search, recall, why, usage, export."""
