"""What every part of the project shares: files and their places, command lines, errors."""
