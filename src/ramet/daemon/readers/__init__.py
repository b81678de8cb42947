"""Reader processes: long reads beside the daemon, each in a process that can be stopped at any moment."""
