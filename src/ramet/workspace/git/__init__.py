"""Git: the command, repositories, changes and merges."""
