"""Attempts at efforts: claimed, prepared, started and watched."""
