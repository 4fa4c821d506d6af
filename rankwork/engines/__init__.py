"""What other libraries return as the top k: observed, counted, and never trusted.

>>> import numpy
>>> from rankwork.engines import engine
>>> engine("numpy.argsort stable reversed").select(numpy.array([1.0, 2.0, 2.0]), k=1).tolist()
[2]
"""

from rankwork.engines.base import Availability, Engine, EngineError, Promise, Request
from rankwork.engines.differences import compare_reports, describe
from rankwork.engines.registry import all_engines, engine, matching
from rankwork.engines.reports import read_report
from rankwork.engines.running import run_experiments
from rankwork.engines.table import table

__all__ = [
    "Availability",
    "Engine",
    "EngineError",
    "Promise",
    "Request",
    "all_engines",
    "compare_reports",
    "describe",
    "engine",
    "matching",
    "read_report",
    "run_experiments",
    "table",
]
