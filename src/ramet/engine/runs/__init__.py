"""Operations on task files, lines, conversations and review rounds."""
