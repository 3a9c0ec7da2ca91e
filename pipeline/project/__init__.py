"""Files and their places, command lines, and errors."""
