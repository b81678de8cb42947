"""Values and rules of projects, tasks, efforts, sessions, agents, skills, messages and budgets."""
