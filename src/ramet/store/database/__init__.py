"""One open database: connections, named queries, migrations, the lock, checks and exports."""
