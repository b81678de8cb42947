"""The landing queue: states and rules of landings."""
