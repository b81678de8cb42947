"""A skill's file and what an agent is told of it."""
