"""What things cost, as ratios against a floor or a peer measured in the same run. `make bench`."""
