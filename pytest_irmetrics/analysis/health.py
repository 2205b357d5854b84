"""What is doubtful about a golden set in which nothing is wrong; few sentences, each with its place.

Queries that say the same, answers given away, gates that nothing fails, ids that nothing returned.
"""

from pytest_irmetrics.analysis.by_run import on_run, on_run_in_detail
from pytest_irmetrics.golden.by_itself import doubts
from pytest_irmetrics.golden.doubt import Doubt

__all__ = ["Doubt", "doubts", "on_run", "on_run_in_detail"]
