"""What child sessions need from this machine: a slot, a folder, tools."""
