"""The files in which agent programs keep their sessions: one module for each program, which reads lines as entries.

Nothing is remembered between two lines. So a file may be read in any pieces, from any line on, and twice.
"""
