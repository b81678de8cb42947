"""Values and rules of commits, branches, contexts and child branches."""
