"""Where lines come from: edits of efforts, matched with what git has."""
