"""The configuration: its keys, its layers, and the paths on disk that depend on it.

Nothing here reads the environment or the current directory by itself: the entry points pass them in.
"""
