"""Commands that manage projects, tasks, efforts, sessions, agents and skills."""
