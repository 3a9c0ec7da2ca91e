"""Programs behind the numbers and sentences of README.md and docs/."""
