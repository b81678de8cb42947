"""Rows of commits, branches, contexts and child branches."""
