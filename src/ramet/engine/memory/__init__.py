"""Operations on what is remembered: import, search, recall, why, usage, export."""
