"""What the daemon's program does to a database while no daemon runs on it."""
