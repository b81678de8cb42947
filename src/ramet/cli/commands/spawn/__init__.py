"""Commands that start child sessions."""
