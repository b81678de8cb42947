"""Operations on runs and their git branches."""
