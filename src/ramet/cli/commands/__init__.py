"""The commands, grouped as `ramet --help` shows them."""
