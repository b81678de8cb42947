"""Operations on the landing queue."""
