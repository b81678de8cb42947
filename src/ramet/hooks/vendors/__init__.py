"""One module for each agent program: its payloads into our words, and our answers into its."""
