"""Operations on child sessions, their results and their trees."""
