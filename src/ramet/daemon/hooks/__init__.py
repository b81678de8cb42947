"""Agents that people start themselves: their hooks, transcripts and processes, and notifications."""
