"""Operations on what Ramet reports of itself: its events and its notices."""
