"""Pictures that fit distances: losses, disparities, descent, and new points."""
