"""Compiled code only: arrays in, arrays out, the same bits on any number of threads."""
