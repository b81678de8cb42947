"""Values of searching: queries, words, hits, snippets, and how rankings are fused."""
