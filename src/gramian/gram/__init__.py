"""BUILD: symmetric maps from points and distances."""
