"""Commands that see what is going on."""
