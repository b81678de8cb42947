"""Operations on commits, branches, contexts and child branches."""
