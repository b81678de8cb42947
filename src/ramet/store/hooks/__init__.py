"""Rows of agents that people start: hooks, transcripts, compactions and handoffs."""
