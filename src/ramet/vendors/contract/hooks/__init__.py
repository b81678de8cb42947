"""What the hooks of every vendor have in common: payloads, words, settings, and the part `hooks` itself."""
