"""Read the runs of a JSON report as one run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_irmetrics.run import Answer, Run, RunError
from pytest_irmetrics.run import json as json_form
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

    def test_runs_with_other_queries_are_one(self):
        read = Run.loads(report(faq=asked(a=self.A), movies=asked(golden_set="m.yaml", b=self.B)))
        assert read == Run.of({"a": self.A, "b": self.B}, 10, None, 1)
        assert Run.loads(report(faq=asked(a=self.A), movies=asked(b=self.B))).golden_set == "faq.yaml"

    def test_each_of_several_runs_adds_all_of_its_queries(self):
        runs = {
            "first": {"a": self.A},
            "second": {"b": self.B, "c": self.A},
            "third": {"d": self.B, "e": self.B},
        }
        read = Run.loads(report(**{name: asked(**answers) for name, answers in runs.items()}))
        assert read.answers == {"a": self.A, "b": self.B, "c": self.A, "d": self.B, "e": self.B}

    def test_a_query_is_known_to_be_bad_where_all_say_so(self):
        bad = replace(self.A, xfail=True)
        assert Run.loads(report(faq=asked(a=bad), movies=asked(a=replace(bad, tags=())))).answers["a"].xfail
        assert not Run.loads(report(faq=asked(a=bad), movies=asked(a=self.A))).answers["a"].xfail

    def test_what_is_asked_twice_and_answered_alike_is_one_query(self):
        other = replace(self.A, judgments={"d2": 1}, weight=1.0, tags=("y",))
        read = Run.loads(report(faq=asked(a=self.A), movies=asked(a=other, b=self.B)))
        assert read.answers["a"] == Answer((("d1", "d2"),), "a", {"lang": "no"}, None, None, ("y",))
        assert read.answers["b"] == self.B
        assert Run.loads(report(faq=asked(a=self.A), movies=asked(a=self.A))).answers["a"] == self.A

    def test_grades_whose_levels_differ_are_not_kept(self):
        read = Run.loads(report(faq=asked(a=self.A), movies=asked(level=2, b=self.B)))
        assert read.relevance_level is None
        assert [answer.judgments for answer in read.answers.values()] == [None, None]
        assert read.answers["b"].weight == 1.0

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"text": "c"}, "another text"),
            ({"params": {}}, "other params"),
            ({"rankings": (("d2", "d1"),)}, "other rankings"),
            ({"rankings": (("d1", "d2"), ("d1", "d2"))}, "other rankings"),
            ({"passages": {"d1": ("d", "x")}}, "other passages"),
        ],
    )
    def test_what_is_answered_differently_is_refused_with_the_tests_and_a_cure(self, changes, words):
        both = report(first=asked(b=self.B), faq=asked(a=self.A), bm25=asked(a=replace(self.A, **changes)))
        with pytest.raises(RunError) as caught:
            Run.loads(both, "run.json")
        assert str(caught.value) == (
            f"run.json:1: is a report of 3 runs that cannot be one: the query 'a' has {words} in "
            "'test_it.py::test_it[faq]' than in 'test_it.py::test_it[bm25]'. Say whose run is wanted: "
            "`Run.load(path, test=request.node.nodeid)` in a fixture of function scope, or a part of a test's id that "
            "only its run has; on the command line `--test`. Or write a report of one test: `pytest NODEID --ir-report=json:PATH`."
        )

    def test_other_depths_are_refused(self):
        with pytest.raises(
            RunError, match=r"\[faq\]' was asked for 10 results a query, and .*\[b\]' for 100\."
        ):
            Run.loads(report(faq=asked(a=self.A), b=asked(depth=100, b=self.B)))

    def test_a_test_is_chosen_by_its_id_or_a_part_of_it(self, tmp_path):
        path = tmp_path / "run.json"
        other = asked(a=replace(self.A, text="c"))
        path.write_text(
            report(**{"faq-bm25": asked(a=self.A), "faq-dense": other, "m-dense": asked(b=self.B)})
        )
        assert Run.load(path, test="bm25") == asked(a=self.A)
        assert Run.load(path, test="test_it.py::test_it[faq-dense]") == other
        assert Run.load(path, test="dense").answers == {**other.answers, "b": self.B}
        with pytest.raises(RunError, match="a report of 2 runs that cannot be one"):
            Run.load(path, test="faq")

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

    def test_what_is_not_chosen_is_not_read(self):
        text = report(faq=asked(a=self.A), movies=asked(b=self.B)).replace('"d3"\n', "5\n")
        assert json_form.read(text, "run", "faq")[0] == {"a": self.A}
        line = text[: text.index('"id": "b"')].count("\n")
        for test in ("movies", None):
            with pytest.raises(RunError, match=rf"^run:{line}: "):
                json_form.read(text, "run", test)

    def test_a_test_that_is_not_there_is_refused(self, tmp_path):
        many = {f"t{n}": asked(a=self.A) for n in range(7)}
        with pytest.raises(RunError) as caught:
            json_form.read(report(broken=None, **many), "run.json", "broken")
        assert str(caught.value).startswith(
            "run.json:1: has no run of a test 'broken': there is none of that name, or "
        )
        assert "There are runs of 'test_it.py::test_it[t0]', " in str(caught.value)
        assert "[t4]', …. Name one" in str(caught.value)
        RUN.save(tmp_path / "run.json")
        (tmp_path / "run.trec").write_text("q Q0 a 1 1 x\n")
        for name in ("run.json", "run.trec"):
            with pytest.raises(RunError, match=rf"{name}:1: is one run, and no report .* Leave the test out"):
                Run.load(tmp_path / name, test="faq")

    def test_a_report_without_a_run_is_refused(self):
        with pytest.raises(RunError, match="run:1: is a report without a run"):
            Run.loads(report(broken=None))
