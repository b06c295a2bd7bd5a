"""SHOW: what plots, report, notebook and command line share: safe text, colors, a thumbnail."""
