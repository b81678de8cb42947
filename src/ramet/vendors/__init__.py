"""Agent programs: one folder each, with everything that Ramet knows about that program."""
