"""What an attempt leaves: its changes, its report, its worktree, its outcome."""
