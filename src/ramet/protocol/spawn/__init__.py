"""Operations on child sessions and their trees."""
