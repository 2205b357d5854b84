"""docs/metrics.md has every metric, parameter and other name that there is, and its examples are computed."""

from __future__ import annotations

import re
import shutil
from math import isclose, log2
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval

from pytest_irmetrics import GoldenSet, Run, evaluate

TEXT = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
RANKING = [name for name in SECTIONS if not name.startswith(("latency", "no_answer"))]
NOT_READ = ("-M k", "gdeval.pl", "RBP(rel=1)")
"""Options and programs, and a measure whose default is another."""

JUDGED = {"d1": 3, "d2": 2, "d3": 1, "d4": 0, "d5": 1}
RANKED = ["d2", "u1", "d1", "d4", "d3"]
GOLDEN, RUN = GoldenSet.from_judgments({"1": JUDGED}), Run({"1": RANKED})
SCORES = {"1": {doc_id: float(-rank) for rank, doc_id in enumerate(RANKED)}}


def evaluated(*metrics):
    return evaluate(GOLDEN, RUN, metrics, depth=10)


def name_of(metric):
    """Return the canonical name of a metric as it is read."""
    return evaluated(metric).metrics[0].name


def names(section, label):
    found = re.search(rf"^- {label}: (.*?)(?=^- |^$)", SECTIONS[section], re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`]+)`", found[1])


def examples(section):
    """Metric, value and expression of each line of the last block of a section."""
    blocks = re.findall(r"^```text\n(.*?)^```", SECTIONS[section], re.MULTILINE | re.DOTALL)
    return [re.split(r" {2,}", line) for line in blocks[-1].splitlines()]


def test_the_page_has_every_metric_and_no_other():
    with pytest.raises(ValueError, match="Known are") as caught:
        evaluated("qwertyuiop")
    assert str(caught.value).endswith(f"Known are {', '.join(SECTIONS)}.")


@pytest.mark.parametrize("section", RANKING)
def test_each_parameter_takes_the_values_that_the_page_has(section):
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", SECTIONS[section], re.MULTILINE)
    with pytest.raises(ValueError, match="has no parameter") as caught:
        evaluated(f"{section}(qwertyuiop=1)@10")
    written = " and ".join(key for key, _, _ in rows)
    assert str(caught.value).endswith(f"It has {written}." if rows else "It has none.")
    for key, values, _ in rows:
        default = re.search(r"`([\w.]+)` \(default\)|default: `([\w.]+)`", values)
        for value in re.findall(r"`([\w.]+)`", values.partition("default: the golden")[0]):
            inside = name_of(f"{section}({key}={value})@10").removeprefix(section)
            is_default = default is not None and value in default.groups()
            assert inside == ("@10" if is_default else f"({key}={value})@10")
        with pytest.raises(ValueError, match=rf"{key} is ") as caught:
            evaluated(f"{section}({key}=-1)@10")
        accepted = str(caught.value).partition(f"{key} is ")[2].rstrip(".")
        numbers = values.partition(";")[0]
        assert accepted == (numbers if "number" in numbers else " or ".join(re.findall(r"`(\w+)`", values)))


@pytest.mark.parametrize("section", RANKING)
def test_the_names_in_other_tools_are_read_as_this_metric_and_give_its_score(section):
    for measure in names(section, "trec_eval"):
        if measure not in NOT_READ:
            assert re.match(r"\w+", name_of(measure))[0] == section
            written = re.sub(r"_(\d+)$", r".\1", measure)
            (value,) = pytrec_eval.RelevanceEvaluator({"1": JUDGED}, {written}).evaluate(SCORES)["1"].values()
            assert value == evaluated(measure)[measure], measure
    for measure in names(section, "ir_measures"):
        by_gdeval = measure.startswith("ERR") or "exp-log2" in measure
        ours = "rbp" if measure == "RBP(rel=1)" else measure
        assert re.match(r"\w+", name_of(ours))[0] == section
        if not by_gdeval or shutil.which("perl"):
            parsed = ir_measures.parse_measure(measure)
            value = ir_measures.calc_aggregate([parsed], {"1": JUDGED}, SCORES)[parsed]
            assert value == pytest.approx(evaluated(ours)[ours], abs=1e-5 if by_gdeval else 1e-12)


@pytest.mark.parametrize("section", RANKING)
def test_the_examples_are_computed(section):
    for metric, value, expression in examples(section):
        assert name_of(metric) == metric
        assert f"{evaluated(metric)[metric]:.4f}" == value
        assert isclose(eval(expression, {"log2": log2}), evaluated(metric)[metric])


def test_the_example_is_the_one_that_is_computed():
    rows = re.findall(r"^\| (\d|–) \| (\w\d) \| (\d|not judged)(?:, not returned)? \|$", TEXT, re.MULTILINE)
    assert [doc_id for rank, doc_id, _ in rows if rank != "–"] == RANKED
    assert {doc_id: int(grade) for _, doc_id, grade in rows if grade != "not judged"} == JUDGED
    (code,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    *lines, last = code.strip().splitlines()
    known: dict[str, object] = {}
    exec("\n".join(lines), known)
    expression, _, shown = last.partition("  # ")
    assert f"{eval(expression, known):.4f}" == shown
