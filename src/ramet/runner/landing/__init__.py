"""Landing: the change of an effort or a run, and how it reaches a branch of the user's."""
