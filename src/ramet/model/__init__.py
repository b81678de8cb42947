"""What things are: frozen values and the rules about them. No I/O, no clock, no environment.

Each file is one noun of the glossary. The structs are the rows that operations answer with, under their column
names; the transition tables are literals that the engine, the SQL constraints, the docs and the tests share.
"""
