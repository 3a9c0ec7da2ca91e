"""Command `profile`: what one network, or several side by side, are sensitive to and
what they may miss."""
