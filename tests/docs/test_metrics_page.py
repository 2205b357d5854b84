"""docs/metrics.md has every metric, parameter and other name that there is, and its examples are computed."""

from __future__ import annotations

import re
import shutil
from math import isclose, log2

import ir_measures
import pytest
import pytrec_eval

from pytest_irmetrics import GoldenSet, Run, evaluate
from tests.pages import DOCS, blocks

PAGE = DOCS / "metrics.md"
TEXT = PAGE.read_text(encoding="utf-8")
FORMULAS, EXAMPLES = (block.text for block in blocks(PAGE) if block.kind == "text")
METRICS = re.findall(r"^(\w+)  ", FORMULAS, re.MULTILINE)
EXAMPLES = [re.split(r" {2,}", line) for line in EXAMPLES.splitlines()]
"""Metric, value and expression."""

JUDGED = {"d1": 3, "d2": 2, "d3": 1, "d4": 0, "d5": 1}
RANKED = ["d2", "u1", "d1", "d4", "d3"]
GOLDEN, RUN = GoldenSet.from_judgments({"1": JUDGED}), Run({"1": RANKED})
SCORES = {"1": {doc_id: float(-rank) for rank, doc_id in enumerate(RANKED)}}


def rows(section):
    """The rows of a section's table."""
    part = TEXT.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return [row.strip("| ").split(" | ") for row in re.findall(r"^\| `.*\|$", part, re.MULTILINE)]


def spans(cell):
    return re.findall(r"`([^`]+)`", cell)


PARAMETERS = {
    (name, metric): values
    for (name, *_), metrics, values, _ in (
        (spans(key), spans(of), values, text) for key, of, values, text in rows("Parameters")
    )
    for metric in metrics
}


def evaluated(*metrics):
    return evaluate(GOLDEN, RUN, metrics, depth=10)


def name_of(metric):
    """Return the canonical name of a metric as it is read."""
    return evaluated(metric).metrics[0].name


def test_the_page_has_every_metric_and_no_other():
    with pytest.raises(ValueError, match="Known are") as caught:
        evaluated("qwertyuiop")
    known = re.findall(r"\w+", str(caught.value).partition("Known are ")[2])
    assert sorted(known) == sorted(METRICS)
    assert {re.match(r"\w+", metric)[0] for metric, *_ in EXAMPLES} == {
        row[0].strip("`") for row in rows("Names in other tools")
    }


@pytest.mark.parametrize(
    "metric", [name for name in METRICS if not name.startswith(("latency", "no_answer", "overlap"))]
)
def test_each_metric_has_the_parameters_of_the_page(metric):
    with pytest.raises(ValueError, match="has no parameter") as caught:
        evaluated(f"{metric}(qwertyuiop=1)@10")
    told = set(re.findall(r"\w+", str(caught.value).rpartition(". It has ")[2])) - {"and", "none"}
    assert told == {name for name, of in PARAMETERS if of == metric}


@pytest.mark.parametrize(("name", "metric"), PARAMETERS)
def test_each_parameter_takes_the_values_that_the_page_has(name, metric):
    values = PARAMETERS[name, metric]
    default = re.search(r"`([\w.]+)` \(default\)|default: `([\w.]+)`", values)
    for value in re.findall(r"`([\w.]+)`", values.partition("default: the golden")[0]):
        inside = name_of(f"{metric}({name}={value})@10").removeprefix(metric)
        is_default = default is not None and value in default.groups()
        assert inside == ("@10" if is_default else f"({name}={value})@10")
    with pytest.raises(ValueError, match=rf"{name} is ") as caught:
        evaluated(f"{metric}({name}=-1)@10")
    accepted = str(caught.value).partition(f"{name} is ")[2].rstrip(".")
    numbers = values.partition(";")[0]
    assert accepted == (numbers if "number" in numbers else " or ".join(re.findall(r"`(\w+)`", values)))


@pytest.mark.parametrize(("metric", "trec_eval", "others"), rows("Names in other tools"))
def test_the_names_in_other_tools_are_read_as_this_metric_and_give_its_score(metric, trec_eval, others):
    for measure in spans(trec_eval):
        assert re.match(r"\w+", name_of(measure))[0] == metric.strip("`")
        written = re.sub(r"_(\d+)$", r".\1", measure)
        (value,) = pytrec_eval.RelevanceEvaluator({"1": JUDGED}, {written}).evaluate(SCORES)["1"].values()
        assert value == evaluated(measure)[measure], measure
    for measure in spans(others):
        by_gdeval = measure.startswith("ERR") or "exp-log2" in measure
        ours = "rbp" if measure == "RBP(rel=1)" else measure  # whose default is another
        assert re.match(r"\w+", name_of(ours))[0] == metric.strip("`")
        if not by_gdeval or shutil.which("perl"):
            parsed = ir_measures.parse_measure(measure)
            value = ir_measures.calc_aggregate([parsed], {"1": JUDGED}, SCORES)[parsed]
            assert value == pytest.approx(evaluated(ours)[ours], abs=1e-5 if by_gdeval else 1e-12)


@pytest.mark.parametrize(("metric", "value", "expression"), EXAMPLES)
def test_the_examples_are_computed(metric, value, expression):
    assert name_of(metric) == metric
    assert f"{evaluated(metric)[metric]:.4f}" == value
    assert isclose(eval(expression, {"log2": log2}), evaluated(metric)[metric])


def test_the_example_is_the_one_that_is_computed():
    shown = re.findall(r"^\| (\d|–) \| (\w\d) \| (\d|not judged)(?:, not returned)? \|$", TEXT, re.MULTILINE)
    assert [doc_id for rank, doc_id, _ in shown if rank != "–"] == RANKED
    assert {doc_id: int(grade) for _, doc_id, grade in shown if grade != "not judged"} == JUDGED
    (code,) = (block.text for block in blocks(PAGE) if block.kind == "python")
    *lines, last = code.strip().splitlines()
    known: dict[str, object] = {}
    exec("\n".join(lines), known)
    expression, _, shown = last.partition("  # ")
    assert f"{eval(expression, known):.4f}" == shown
