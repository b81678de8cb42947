"""Completion of commands, options and names in the user's shell."""
