"""What is said of a drop that passed although it is beyond its limit."""

from __future__ import annotations

from pytest_irmetrics import GoldenSet, Run, compare
from pytest_irmetrics.analysis.trust import on_passed_drops
from pytest_irmetrics.evaluation import evaluate_run
from pytest_irmetrics.run import Answer
from tests.unit.gates.runs import HIT, MISS, evaluated, gates, golden_set, judged

SECOND = ("x", "d")


def notes(now, before, **words):
    verdicts = judged(now, before, gates(**words))
    assert not any(verdict.failed for verdict in verdicts)
    return list(on_passed_drops(compare(now, before), verdicts)), verdicts


def test_nothing_is_said_of_a_drop_up_to_its_limit_or_of_a_rise():
    golden = golden_set(100)
    now, before = (
        evaluated(golden, lambda n: HIT if n < 80 else MISS),
        evaluated(golden, lambda n: HIT if n < 81 else MISS),
    )
    assert notes(now, before, max_drop=0.01)[0] == []
    assert notes(now, before, max_drop=0.5)[0] == []
    assert notes(before, now, max_drop=0)[0] == []


def test_a_drop_beyond_its_limit_that_is_not_significant_is_told_as_its_gate_tells_it():
    golden = golden_set(100)
    now, before = (
        evaluated(golden, lambda n: HIT if n < 80 else MISS),
        evaluated(golden, lambda n: HIT if n < 82 else MISS),
    )
    told, (verdict,) = notes(now, before, max_drop=0.01, significance=0.05)
    assert told == [verdict.text]
    assert verdict.text.startswith("mrr fell by 0.0200 from the baseline to 0.8000")


def repeated(*rankings):
    golden = GoldenSet.from_judgments({f"q{n}": {"d": 1} for n in range(4)})
    run = Run.of({query_id: Answer(tuple(map(tuple, rankings))) for query_id in golden.queries}, depth=10)
    return evaluate_run(golden, run, ["mrr"], depth=10)
