"""The wire format of requests and replies, and its machine-readable description."""
