"""REPORT: an embedding as one self-contained, interactive HTML file."""

from gramian.report.page import write_report

__all__ = ["write_report"]
