"""How an operation reaches the database: the writer, the pool, readers, and threads for long work."""
