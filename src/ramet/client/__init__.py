"""How to reach it: connect to the daemon's socket, start the daemon where none runs, and stop it.

Standard library only, and as little of that as can be: whatever is imported here is paid for by every command.
"""
