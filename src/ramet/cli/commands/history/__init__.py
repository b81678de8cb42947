"""Commands that version the contexts of agents."""
