"""The socket: connections, lines, calls, subscriptions and tokens."""
