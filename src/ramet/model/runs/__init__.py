"""Values and rules of task files, lines, conversations and review rounds."""
