"""Operations on projects, tasks, efforts, sessions, agents, skills, messages and budgets."""
