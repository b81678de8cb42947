"""By hand: parse what a person typed, ask the daemon, show the answer.

`main` holds the table of commands; each noun has a module, which is imported when it is used. Nothing is decided
here that another surface would have to decide again.
"""
