"""SQLite: one file, one writing connection."""
