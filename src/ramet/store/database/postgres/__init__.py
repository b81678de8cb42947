"""PostgreSQL: one server, several daemons."""
