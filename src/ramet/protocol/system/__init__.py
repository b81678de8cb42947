"""Operations on no subject of their own: the daemon, the database, events, notices and models."""
