"""Operations on agents that people start: hooks, transcripts, compactions, handoffs, and project files."""
