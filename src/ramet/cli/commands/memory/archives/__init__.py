"""Exports, archives and purges."""
