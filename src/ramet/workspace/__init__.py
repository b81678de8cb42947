"""What is on disk: git worktrees, reports. It knows no database."""
