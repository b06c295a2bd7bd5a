"""COMMAND LINE: reads options, calls a method, writes files, speaks. No mathematics."""
