"""What runs: claim, worktree, keeper, settle, adopt. It asks the engine by operations and never touches SQL."""
