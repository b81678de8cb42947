"""Searching what is remembered: the feed of the index, the ladder of queries, texts of programs, meaning."""
