"""Neural anisotropy directions: eigenvectors of the covariance of a network's input derivative over its initialisation."""
