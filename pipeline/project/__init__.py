"""Files and their places, command lines, the limits of a process, and errors."""
