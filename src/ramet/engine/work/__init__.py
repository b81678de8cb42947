"""Operations on the queue, leases, attempts, reports and drivers."""
