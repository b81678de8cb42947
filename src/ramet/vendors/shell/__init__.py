"""A shell command as the prompt."""
