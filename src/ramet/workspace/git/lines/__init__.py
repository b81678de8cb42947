"""Who wrote the lines of a file, as git has it."""
