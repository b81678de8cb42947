"""What stays up: one process per database, reached through a socket that only its user can open.

Read it in this order. `__main__` is started with the settings on its standard input; `serving` takes the
database's lock through `composition`, opens the socket (`socket_file`) and stays until it is told to go. The
`server` accepts; each `connection` turns bytes into `lines`, lines into `calls`, and calls into replies, in order.
What concerns the database goes through the `executor`: the `writer` on SQLite, the `pool` on PostgreSQL.
`subscriptions` tells whoever asked what has been committed.

Nothing here knows SQL or decides what an operation means; nothing below it knows that there is a socket.
"""
