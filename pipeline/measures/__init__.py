"""What is measured of trained networks: decision boundaries, margins, rank correlation."""
