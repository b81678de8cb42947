"""Operations on agents that people start: hooks, transcripts, compactions and handoffs."""
