"""The paper's tables by one command: suites, methods, a resumable runner, tables.

``miptree bench run`` fits and writes journals, ``miptree bench tables`` and ``figures``
show them beside the paper's printed numbers (``paper.toml``).
"""

from miptree.bench.journal import Journal, JournalLockedError
from miptree.bench.methods import METHODS, get_method
from miptree.bench.paper import PaperResult, paper_results
from miptree.bench.runner import Fit, plan, run, run_fit
from miptree.bench.suites import SUITES, Pair

__all__ = [
    "METHODS",
    "SUITES",
    "Fit",
    "Journal",
    "JournalLockedError",
    "Pair",
    "PaperResult",
    "get_method",
    "paper_results",
    "plan",
    "run",
    "run_fit",
]
