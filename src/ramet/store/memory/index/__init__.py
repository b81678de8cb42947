"""The search index: a SQLite file of its own beside the daemon, derived from the database and disposable."""
