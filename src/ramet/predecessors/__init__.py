"""The systems before Ramet: reads their databases and files, and says what each of their rows becomes."""
