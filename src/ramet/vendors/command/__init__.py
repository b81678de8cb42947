"""Any program that reads a prompt and prints an answer."""
