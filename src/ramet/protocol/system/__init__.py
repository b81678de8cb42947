"""Operations that belong to no subject: the daemon, the database, events, notices and models."""
