"""Changes to the user's own configuration file, which keep its comments and its order."""
