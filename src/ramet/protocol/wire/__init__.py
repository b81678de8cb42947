"""How requests and replies travel, and how they are described to other programs."""
