"""Rows of the queue, leases, attempts, reports and drivers."""
