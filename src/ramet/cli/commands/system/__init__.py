"""Commands that set up and maintain Ramet."""
