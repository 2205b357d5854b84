"""Read the runs of a JSON report as one run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_irmetrics.run import Answer, Run, RunError
from tests.unit.run.stored import RUN


def report(**runs):
    """Write a report of tests with these runs."""
    tests = [
        {"nodeid": f"test_it.py::test_it[{name}]", "run": None if run is None else json.loads(run.dumps())}
        for name, run in runs.items()
    ]
    return json.dumps({"format": "pytest-irmetrics report", "tests": tests}, indent=1)


def asked(depth=10, golden_set="faq.yaml", level=1, **answers):
    """Make a run that a test recorded."""
    return Run.of(answers, depth, golden_set, level, {"mrr": 0.5})


class TestReports:
    A = Answer((("d1", "d2"),), "a", {"lang": "no"}, {"d1": 1}, 2.0, ("x", "y"))
    B = Answer((("d3",),), "b", {}, {"d3": 1}, 1.0)

    def test_the_only_run_is_the_report_s_run(self):
        assert Run.loads(report(broken=None, faq=RUN)) == RUN

    def test_a_whole_id_is_that_test_alone(self, tmp_path):
        (tmp_path / "run.json").write_text(
            report(faq=asked(a=self.A)).replace("test_it.py::test_it[faq]", "t")
        )
        path = tmp_path / "two.json"
        path.write_text(
            json.dumps(
                {
                    "format": "pytest-irmetrics report",
                    "tests": [
                        {"nodeid": "x/t", "run": json.loads(asked(a=self.A).dumps())},
                        {"nodeid": "t", "run": json.loads(asked(b=self.B).dumps())},
                    ],
                }
            )
        )
        assert list(Run.load(path, test="t")) == ["b"]

    def test_a_report_without_a_run_is_refused(self):
        with pytest.raises(RunError, match="run:1: is a report without a run"):
            Run.loads(report(broken=None))

    def test_of_several_runs_one_is_to_be_named(self, tmp_path):
        path = tmp_path / "run.json"
        other = asked(a=replace(self.A, text="c"))
        path.write_text(report(broken=None, bm25=asked(a=self.A), dense=other))
        assert Run.load(path, test="bm25") == asked(a=self.A)
        assert Run.load(path, test="test_it.py::test_it[dense]") == other
        for test, words in (
            (None, "has 2 runs"),
            ("test_it", "has 2 runs"),
            ("broken", "has no run of a test 'broken'"),
        ):
            with pytest.raises(RunError, match=rf"run.json:1: {words}.* 'test_it.py::test_it\[dense\]'"):
                Run.load(path, test=test)
