"""A database that is damaged or replaced while the daemon runs: noticing it, and writing nothing more."""
