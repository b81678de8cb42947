"""Commands that show the fleet, the queue and the database."""
