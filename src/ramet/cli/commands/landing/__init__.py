"""Commands that show what agents changed, and land it."""
