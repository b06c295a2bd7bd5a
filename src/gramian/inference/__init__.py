"""How many components, and how sure."""
