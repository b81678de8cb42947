"""`ramet import`: the sessions that agent programs stored on this machine, into the record."""
