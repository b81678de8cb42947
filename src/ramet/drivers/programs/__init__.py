"""The agent programs, one file each: this folder is the table of drivers. Each file has a `DRIVER`."""
