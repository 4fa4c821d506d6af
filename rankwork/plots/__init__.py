"""Figures, each a matplotlib `Figure` that a notebook shows as a PNG: the same bytes for the same numbers.

One module a kind of figure; every figure is called as `plots.NAME`.
"""

from rankwork.plots.audits import distribution, orders, queries, ranges, recall_over_k, widths
from rankwork.plots.engines import engine_times, engines
from rankwork.plots.funnel import losses, rank_flow
from rankwork.plots.fusion import changes_by_depth, fused_scores
from rankwork.plots.gates import changes, front, verdicts
from rankwork.plots.judging import calibrations, confusion
from rankwork.plots.monitoring import latencies
from rankwork.plots.selection import blocks, boundary, certificate, winners
from rankwork.plots.speed import cells, evaluator_costs, ratios
from rankwork.plots.sweeps import sweep
from rankwork.plots.systems import differences, leaderboard, origins

__all__ = [
    "blocks", "boundary", "calibrations", "cells", "certificate", "changes", "changes_by_depth", "confusion",
    "differences", "distribution", "engine_times", "engines", "evaluator_costs", "front", "fused_scores", "latencies",
    "leaderboard", "losses", "orders", "origins", "queries", "ranges", "rank_flow", "ratios", "recall_over_k", "sweep",
    "verdicts", "widths", "winners",
]  # fmt: skip
