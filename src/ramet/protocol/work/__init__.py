"""Operations on the queue, leases, attempts, drivers and worktrees."""
