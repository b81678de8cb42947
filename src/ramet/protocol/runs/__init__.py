"""Operations on runs and what they left."""
