"""Reading what can be read of a damaged SQLite file, without SQLite, which gives up at the first bad page."""
