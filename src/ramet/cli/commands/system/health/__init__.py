"""What `ramet doctor` finds out about parts of Ramet."""
