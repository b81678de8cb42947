"""Values and rules of child sessions, their results and their trees."""
