"""Commands that run task files and chains."""
