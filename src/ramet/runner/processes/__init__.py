"""The processes of agents and keepers: found, watched and killed."""
