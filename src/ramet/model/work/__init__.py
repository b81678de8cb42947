"""Values and rules of the queue, leases, attempts, reports and drivers."""
