"""The small process that holds one running agent: its pipes, its process tree, its lease. It outlives the daemon."""
