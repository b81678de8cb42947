"""What is chosen: the configuration keys, their layers, and the places on disk that follow from them.

Nothing here reads the environment or the current directory by itself: the entry points hand them in.
"""
