"""Hooks: what agent programs tell us while they work, in each vendor's words, and the cheap way in for it."""
