"""Reads the results of sixbench: tables as lists of rows, as data frames, and three plots."""

from .plots import plot_delay, plot_search, plot_throughput
from .results import TABLES, Results, ResultsError, read

__all__ = ["TABLES", "Results", "ResultsError", "plot_delay", "plot_search", "plot_throughput", "read"]
