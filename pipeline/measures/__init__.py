"""What is measured of trained networks: boundaries, margins, input gradients, rank
correlation."""
