"""Values of what is remembered: imported sessions, queries, edits, usage."""
