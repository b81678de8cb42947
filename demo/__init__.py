"""What `make demo` shows: `python -m demo`."""
