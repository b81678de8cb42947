"""Who does the work: one adapter per agent program.

No database, no clock. Drivers start nothing; `choosing` alone runs a program, to ask for its version.
"""
