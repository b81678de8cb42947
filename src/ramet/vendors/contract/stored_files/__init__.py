"""Files in which other programs keep sessions, read without ever writing to them or beside them."""
