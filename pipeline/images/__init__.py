"""Images from folders and archives, read by torchvision, in one canonical order."""
