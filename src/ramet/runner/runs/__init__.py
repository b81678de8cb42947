"""What a run needs from this machine: attendance, worktrees of its lines, its branches."""
