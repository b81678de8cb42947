"""How the tool calls that change files are read."""
