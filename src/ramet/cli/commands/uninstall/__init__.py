"""Remove Ramet from a machine."""
