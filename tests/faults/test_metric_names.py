"""Names of metrics that are read and refused: by `evaluate`, a mark, and the setting ir_metrics."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from pytest_irmetrics import GoldenSet, Run, evaluate
from tests.projects import printed

ROWS = yaml.safe_load((Path(__file__).parent / "metric_names.yaml").read_text(encoding="utf-8"))
ACCEPTED = [(written, name) for name, others in ROWS["accepted"].items() for written in [name, *others]]
GOLDEN, RUN = GoldenSet.from_judgments({"q": {"d": 1}}), Run({"q": ["d"]})
OWN = {"own": len, "own_10": len}


def test_one_formula_has_one_name():
    for written, name in ACCEPTED:
        evaluation = evaluate(GOLDEN, RUN, [written, name], custom_metrics=OWN)
        assert [metric.name for metric in evaluation.metrics] == [name], written
        assert str(evaluation.metric(written)) == name


def test_a_name_that_cannot_be_read_says_what_to_write():
    for written, message in ROWS["refused"].items():
        with pytest.raises(ValueError, match=r".") as caught:
            evaluate(GOLDEN, RUN, [written], custom_metrics=OWN)
        assert message in str(caught.value), (written, str(caught.value))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "ends"),
    [
        ("qwertyuiop", ", overlap, no_answer, latency_p50, latency_p95, own, own_10."),
        ("own(query=1)", "'query' is no parameter. Give keyword arguments, and the cut-off after '@'."),
        ("own(ranking=1)", "'ranking' is no parameter. Give keyword arguments, and the cut-off after '@'."),
        ("owm@3", "Did you mean own@3?"),
        ("ndcg-10", "Did you mean ndcg@10?"),
    ],
)
def test_what_is_known_and_what_is_meant_is_said_whole(written, ends):
    with pytest.raises(ValueError, match=re.escape(ends) + "$"):
        evaluate(GOLDEN, RUN, [written], custom_metrics=OWN)


def test_a_relevance_level_belongs_to_the_metrics_that_have_it():
    with pytest.raises(ValueError, match=r"belongs to the binary metrics: mrr, map, .*, bpref\b[\w, ]*\.$"):
        evaluate(GOLDEN, RUN, ["ndcg(rel=2)"])


@pytest.mark.parametrize(("written", "type_"), [(None, "NoneType"), (10, "int")])
def test_a_name_is_text(written, type_):
    with pytest.raises(ValueError, match=f"name is text, not {type_}. Write for example 'ndcg@10'."):
        evaluate(GOLDEN, RUN, ["mrr", written])
    with pytest.raises(ValueError, match=f"a metric's name is text, not {type_}"):
        evaluate(GOLDEN, RUN, ["mrr"])[written]


@pytest.mark.parametrize("taken", ["mrr", "P", "SetR", "latency_p50"])
def test_a_metric_of_ones_own_cannot_take_a_built_in_name(taken):
    with pytest.raises(ValueError, match=r"is built in. Give your own another name"):
        evaluate(GOLDEN, RUN, [taken], custom_metrics={taken: len})


def test_a_metric_of_ones_own_is_found_as_spelt_first():
    both = {"cover": lambda _query, _ranking, _k: 1.0, "Cover": lambda _query, _ranking, _k: 2.0}
    evaluation = evaluate(GOLDEN, RUN, ["Cover", "cover"], custom_metrics=both)
    assert (evaluation["Cover"], evaluation["cover"]) == (2, 1)


def test_names_are_read_and_refused_in_marks_and_settings_as_in_python(project):
    hook = "def pytest_irmetrics_metrics(config):\n    return {'own': lambda query, ranking, k, **_: 0.5}\n"
    project.write("conftest.py", (project.path / "conftest.py").read_text() + "\n\n" + hook)
    readable = [
        (written, name)
        for written, name in ACCEPTED
        if not name.startswith(("latency", "own_10", "no_answer")) and " @ " not in written
    ]
    one_each = {name: written for written, name in readable}
    marks = [f"ir_threshold({written!r}, 0)" for written in one_each.values()]
    project.test(['ir_golden("golden/*.yaml")', *marks])
    names = ", ".join(written for written, _ in readable)
    project.run("-o", f"ir_metrics={names}", "-o", "ir_depth=100", "--ir-report=json:report.json")
    (test,) = json.loads((project.path / "report.json").read_text())["tests"]
    assert {row["metric"] for row in test["rows"] if row["gate"]} == set(one_each)
    assert len({row["metric"] for row in test["rows"]} - set(one_each)) < 10  # judged@k of each cut-off
    tests = [
        f"@pytest.mark.ir_golden('golden/*.yaml')\n@pytest.mark.ir_threshold({written!r}, 0)\n"
        f"def test_{number}(irmetrics): irmetrics.check()\n"
        for number, written in enumerate(ROWS["refused"])
    ]
    project.write("test_search.py", "import pytest\n\n" + "\n".join(tests))
    result = project.pytester.runpytest_inprocess()
    result.assert_outcomes(failed=len(tests))
    said = {
        report.nodeid: " ".join(report.longreprtext.split())
        for report in result.reprec.getreports("pytest_runtest_logreport")
        if report.when == "call"
    }
    for number, message in enumerate(ROWS["refused"].values()):
        assert message in said[f"test_search.py::test_{number}[faq]"], message


@pytest.mark.parametrize("written", ["ndgc@10", "rbp(p=2)", "map(norm=min)"])
def test_a_reported_metric_that_cannot_be_read_fails_the_tests_that_report_it(project, written):
    result = project.run("-o", f"ir_metrics=mrr {written}")
    result.assert_outcomes(failed=1)
    assert ROWS["refused"].get(written, "p is a number above 0 and below 1") in printed(result)
    assert "ir_metrics" in printed(result)
