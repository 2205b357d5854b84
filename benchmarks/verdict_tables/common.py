"""What the tables of verdicts share: the real engine variants, judging, and printing."""

from __future__ import annotations

import random
import sys
from functools import cache
from pathlib import Path

from pytest_irmetrics import GoldenSet, Run, compare, evaluate
from pytest_irmetrics.evaluation import DEFAULT_METRICS, evaluate_run
from pytest_irmetrics.gates import decide
from pytest_irmetrics.run import Answer
from pytest_irmetrics.thresholds import Gate, Gates, Limit

EXAMPLE = Path(__file__).parents[2] / "example_project"
METRICS = DEFAULT_METRICS

VARIANTS = {
    "weights 10,5,2": {"weights": (10.0, 5.0, 2.0)},
    "weights 5,5,1": {"weights": (5.0, 5.0, 1.0)},
    "weights 1,1,1": {"weights": (1.0, 1.0, 1.0)},
    "no stemming": {"tokenizer": "unicode61"},
    "trigrams": {"tokenizer": "trigram"},
}
"""Name → what is changed of the example's engine."""


@cache
def golden_set():
    """The example's queries that have an answer and no parameters, without its thresholds."""
    read = GoldenSet.load(EXAMPLE / "golden" / "rules.yaml")
    kept = [q for q in read.queries.values() if q.judgments and not q.params and q.xfail is None]
    texts = {query.id: query.text for query in kept}
    return GoldenSet.from_judgments({query.id: query.judgments for query in kept}, texts=texts)


@cache
def rankings(variant=None):
    """Query id → the ranking of the example's engine, or of a variant of it."""
    if str(EXAMPLE) not in sys.path:
        sys.path.insert(0, str(EXAMPLE))
    from search import RuleSearch, load_rules

    golden = golden_set()
    found = evaluate(golden, RuleSearch(load_rules(), **VARIANTS.get(variant, {})).search, ["mrr"])
    return {query_id: answer.rankings[0] for query_id, answer in found.run.answers.items()}


def sample(n, variant, chance, *, swap):
    """Draw n of the example's queries, with replacement; return them as a golden set, and the two runs over them.

    With `swap` the runs are exchanged at random, query by query, which makes the change a harmless one.
    """
    golden, before, now = golden_set(), rankings(), rankings(variant)
    drawn = chance.choices(list(golden.queries), k=n)
    names = {f"q{number}": query_id for number, query_id in enumerate(drawn)}
    one, other = {}, {}
    for name, query_id in names.items():
        sides = [before[query_id], now[query_id]]
        if swap and chance.random() < 0.5:
            sides.reverse()
        one[name], other[name] = sides
    judged = {name: golden.queries[query_id].judgments for name, query_id in names.items()}
    return GoldenSet.from_judgments(judged), one, other


def compared(golden, before, now, metrics=METRICS):
    """Compare two runs, each a mapping of query ids to a ranking, or to a tuple of several."""

    def evaluated(found):
        answers = {
            query_id: Answer(rankings=asked if asked and isinstance(asked[0], tuple) else (tuple(asked),))
            for query_id, asked in found.items()
        }
        return evaluate_run(golden, Run.of(answers, depth=10), metrics, depth=10)

    return compare(evaluated(now), evaluated(before))


def failed(comparison, metrics, max_drop=0.01):
    """Whether any of these metrics fails a `max_drop`, by the verdicts of the plugin."""
    gates = Gates(Gate(comparison.now.metric(name), None, "max_drop", Limit(max_drop)) for name in metrics)
    verdicts = decide(comparison.full, gates, comparison=comparison, against="the baseline")
    return any(verdict.failed for verdict in verdicts)


def seeded(*names):
    """Return random numbers that are the same in every run."""
    return random.Random(repr(names))


def show(title, header, rows):
    """Print a table; numbers between 0 and 1 with two decimals."""
    cells = [list(header), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(header))]
    print(title)
    for row in cells:
        print(
            "  "
            + "  ".join(
                cell.ljust(w) if not n else cell.rjust(w)
                for n, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
        )


def _text(cell):
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
