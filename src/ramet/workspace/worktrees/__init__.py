"""Worktrees: made, labelled, inspected and removed without losing work."""
