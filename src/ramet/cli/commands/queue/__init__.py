"""Commands that queue and run efforts."""
