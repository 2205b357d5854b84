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
from pytest_irmetrics.metrics import FAMILIES, parse_metric
from pytest_irmetrics.metrics.names import _ALIASES, _CUT_ALIASES, _SET_ALIASES

TEXT = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
RANKING = [name for name, family in FAMILIES.items() if family.kind == "ranking"]

JUDGED = {"d1": 3, "d2": 2, "d3": 1, "d4": 0, "d5": 1}
RANKED = ["d2", "u1", "d1", "d4", "d3"]
DEFAULT_OF_REL = "the golden set's `relevance_level`"


def item(name, label):
    """What follows `- LABEL:` in a metric's section."""
    found = re.search(rf"^- {label}: (.*?)(?=^- |^$)", SECTIONS[name], re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split())


def names(name, label):
    return re.findall(r"`([^`]+)`", item(name, label))


def examples(section):
    """Metric, value and expression of each line of the last block of a section."""
    blocks = re.findall(r"^```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [re.split(r" {2,}", line) for line in blocks[-1].splitlines()]


def ours(metric):
    return evaluate(GoldenSet.from_judgments({"1": JUDGED}), Run({"1": RANKED}), [metric], depth=10)[metric]


def trec_eval(measure):
    name = re.sub(r"_(\d+)$", r".\1", measure)
    scores = {doc_id: float(-rank) for rank, doc_id in enumerate(RANKED)}
    (value,) = pytrec_eval.RelevanceEvaluator({"1": JUDGED}, {name}).evaluate({"1": scores})["1"].values()
    return value


def ir_measures_gives(measure):
    measure = ir_measures.parse_measure(measure)
    scores = {doc_id: float(-rank) for rank, doc_id in enumerate(RANKED)}
    return ir_measures.calc_aggregate([measure], {"1": JUDGED}, {"1": scores})[measure]


def test_the_page_has_every_metric_and_no_other():
    assert list(SECTIONS) == list(FAMILIES)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_page_has_every_parameter_with_its_values_and_default(name):
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", SECTIONS[name], re.MULTILINE)
    assert [row[0] for row in rows] == list(FAMILIES[name].parameters)
    for key, values, explained in rows:
        parameter = FAMILIES[name].parameters[key]
        if parameter.choices:
            default = [
                f"`{choice}`" + " (default)" * (choice == parameter.default) for choice in parameter.choices
            ]
            assert values == ", ".join(default)
        elif parameter.default is None:
            assert values == f"{parameter.accepts}; default: {DEFAULT_OF_REL}"
        else:
            assert values == f"{parameter.accepts}; default: `{parameter.default}`"
        assert explained.strip()
    assert rows or SECTIONS[name].count("No parameters")


@pytest.mark.parametrize("name", FAMILIES)
def test_the_page_has_the_range(name):
    assert item(name, "Range").startswith("0 to 1" if FAMILIES[name].upper == 1 else "0 upwards")


@pytest.mark.parametrize("name", RANKING)
def test_the_page_names_the_source_that_the_formula_names(name):
    definition = " ".join(FAMILIES[name].definition.split())
    source = re.search(r"Source: (.*?\.)(?: (?:As|Without) |$)", definition)[1]
    assert item(name, "Source") == source


@pytest.mark.parametrize("name", RANKING)
def test_the_names_in_other_tools_are_read_as_this_metric(name):
    for other in [*names(name, "trec_eval"), *names(name, "ir_measures")]:
        if other not in ("-M k", "gdeval.pl", "RBP(rel=1)"):  # options and programs; RBP's default is another
            assert parse_metric(other).family == name, other


def test_every_name_that_is_read_is_on_the_page():
    for alias, name in {**_ALIASES, **_SET_ALIASES, **_CUT_ALIASES}.items():
        section = SECTIONS[name].casefold()
        assert alias.replace("hit_rate", "hit rate").split("-")[0] in section, alias


@pytest.mark.parametrize(
    ("name", "metric", "value", "expression"),
    [(name, *line) for name in RANKING for line in examples(SECTIONS[name])],
    ids=lambda value: value.replace(" ", "") if isinstance(value, str) and len(value) < 30 else "",
)
def test_the_example_is_computed(name, metric, value, expression):
    assert parse_metric(metric).name == metric
    assert parse_metric(metric).family == name
    assert f"{ours(metric):.4f}" == value
    assert isclose(eval(expression, {"log2": log2}), ours(metric))


@pytest.mark.parametrize("name", RANKING)
def test_trec_eval_and_ir_measures_give_the_same_under_their_names(name):
    for measure in names(name, "trec_eval"):
        if measure not in ("-M k", "gdeval.pl"):
            assert trec_eval(measure) == ours(measure), measure
    for measure in names(name, "ir_measures"):
        by_gdeval = measure.startswith("ERR") or "exp-log2" in measure
        if not by_gdeval or shutil.which("perl"):
            here = "rbp" if name == "rbp" else measure
            assert ir_measures_gives(measure) == pytest.approx(ours(here), abs=1e-5 if by_gdeval else 1e-12)


def test_the_example_is_the_one_that_is_computed():
    rows = re.findall(r"^\| (\d|–) \| (\w\d) \| (\d|not judged)(?:, not returned)? \|$", TEXT, re.MULTILINE)
    assert [doc_id for rank, doc_id, _ in rows if rank != "–"] == RANKED
    assert {doc_id: int(grade) for _, doc_id, grade in rows if grade != "not judged"} == JUDGED
    (code,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    *lines, last = code.strip().splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    expression, _, shown = last.partition("  # ")
    assert f"{eval(expression, names):.4f}" == shown
    assert names["golden"].queries["1"].judgments == JUDGED
    assert names["run"]["1"] == tuple(RANKED)


def test_the_question_table_names_every_metric():
    table = TEXT.partition("## Which one")[2].partition("\n## ")[0]
    answered = set(re.findall(r"\(#(\w+)\)", table))
    assert answered <= FAMILIES.keys()
    assert FAMILIES.keys() - answered == {"f1", "r_precision", "latency_p50"}


@pytest.mark.parametrize("name", RANKING)
def test_what_is_said_to_be_the_same_in_ranx_is_the_same(name):
    said = re.search(r"the same in ranx \(`([\w@-]+)`", SECTIONS[name])
    if said is None:
        return
    ranx = pytest.importorskip("ranx", reason="there is no ranx here: it is in the group bench")
    scores = {doc_id: float(len(RANKED) - rank) for rank, doc_id in enumerate(RANKED)}
    theirs = said[1].replace("@k", "@10")
    value = ranx.evaluate(ranx.Qrels({"1": JUDGED}), ranx.Run({"1": scores}), theirs)
    assert value == pytest.approx(ours(f"{name}@10" if "@" in theirs else name))
