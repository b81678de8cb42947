"""What exports read and what imports of archives write."""
