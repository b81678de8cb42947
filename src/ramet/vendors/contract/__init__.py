"""What a vendor folder implements, and the readers that vendors share."""
