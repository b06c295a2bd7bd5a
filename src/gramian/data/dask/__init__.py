"""Dask arrays and clusters: the one place that knows Dask."""
