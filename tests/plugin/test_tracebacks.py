"""An error is shown at the user's own line, without a frame of this package, in Python's interface and in the plugin."""

from __future__ import annotations

import re
import shlex

import pytest

USES = {
    "a metric's name": "evaluate(GOLDEN, RUN, ['ndgc'])",
    "a golden set's file": "GoldenSet.load('broken.yaml')",
    "a golden set's rows": "GoldenSet.load('broken.csv')",
    "a golden set's lines": "GoldenSet.load('broken.jsonl')",
    "judgments as TREC has them": "GoldenSet.load('broken.qrels')",
    "a golden set that is not there": "GoldenSet.load('gone.yaml')",
    "judgments": "GoldenSet.from_judgments({'q': {'d': 'x'}})",
    "a run": "Run({'q': 'abc'})",
    "a stored run": "Run.load('broken.json')",
    "a TREC run": "Run.load('broken.run')",
    "a run that cannot be stored": "Run({'a b': ['d']}).save('x.run')",
    "an evaluation": "evaluate(GOLDEN, RUN, 'mrr')",
    "a cut-off": "evaluate(GOLDEN, RUN, ['recall@50'], depth=10)",
    "a metric of one's own": "evaluate(GOLDEN, RUN, ['mine'], custom_metrics={'mine': lambda *_: 'x'})['mine']",
    "a comparison": "compare(RUN, RUN)",
    "a retriever": "evaluate(GOLDEN, lambda a, b, c: [], ['mrr'])['mrr']",
    "what is no retriever": "evaluate(GOLDEN, object(), ['mrr'])",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_the_last_line_of_a_traceback_is_the_users(pytester, monkeypatch, use):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name, text in {
        "broken.yaml": "queries: 3\n",
        "broken.csv": "query\n",
        "broken.jsonl": "{\n",
        "broken.qrels": "q\n",
        "broken.json": "{",
        "broken.run": "q\n",
    }.items():
        (pytester.path / name).write_text(text)
    pytester.makepyfile(f"""
        from pytest_irmetrics import GoldenSet, Run, compare, evaluate

        GOLDEN, RUN = GoldenSet.from_judgments({{"q": {{"d": 1}}}}), Run({{"q": ["d"]}})

        def test_it():
            {use}
    """)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "pytest_irmetrics.plugin")
    result.assert_outcomes(failed=1)
    places = [line for line in result.outlines if re.match(r"\S+\.py:\d+: ", line)]
    assert len(places) == 1, places
    assert places[0].startswith("test_the_last_line_of_a_traceback_is_the_users.py:6: ")


FAILURES = {
    "a gate": "irmetrics.check()",
    "a retriever that raises": "irmetrics.evaluate(retriever=lambda query, k: 1 / 0)",
    "a golden set that is not there": "irmetrics.check(golden='gone.yaml')",
    "a run that is not there": "irmetrics.check(against='gone.json')",
    "a second check": "irmetrics.acheck().close(); irmetrics.acheck()",
}


@pytest.mark.parametrize("body", FAILURES.values(), ids=FAILURES)
def test_a_failure_of_the_fixture_is_placed_at_the_line_that_uses_it(project, body):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.99)'], body)
    assert places(project) == [f"{project.path / 'test_search.py'}:6"]
    assert stop(project) == f"{project.path / 'test_search.py'}:6"


def test_the_command_to_look_closer_shows_the_traceback_of_a_retriever_that_raises(project):
    raises = "irmetrics.evaluate(retriever=lambda query, k: __import__('json').loads('{'))"
    project.test(['ir_golden("golden/*.yaml")'], raises)
    (command,) = [line for line in project.run().outlines if line.startswith("To look closer: ")]
    shown = project.run("-p", "logging", *shlex.split(command.partition("pytest ")[2])[1:]).stdout.str()
    assert re.search(
        r'Traceback .*\n  File ".*test_search.py", line 5, in <lambda>\n(.*\n)+.*in raw_decode', shown
    )


def test_a_failure_of_acheck_is_placed_at_the_line_that_awaits_it(project):
    project.make_async()
    project.answers({})
    assert places(project) == [f"{project.path / 'test_search.py'}:7"]
    assert stop(project) == f"{project.path / 'test_search.py'}:7"


@pytest.mark.parametrize("body", ["pass", "try: irmetrics.check()\n    except BaseException: pass"])
def test_a_failure_that_no_line_raised_is_placed_at_the_test(project, body):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.99)'], body)
    assert places(project) == [f"{project.path / 'test_search.py'}:3"]


@pytest.mark.parametrize(
    "marks", [["ir_threshold('mrr', 0.5)"], ["ir_threshold('mrr', 2)", "ir_golden('golden/*')"]]
)
def test_a_wrong_mark_is_told_without_a_word_on_frames(project, marks):
    project.test(marks, "pass")
    if len(marks) == 1:
        project.write(
            "test_search.py", "import pytest\n@pytest.mark.ir_threshold('mrr', 0.5)\ndef test(): pass\n"
        )
    places(project)


def places(project):
    """Return where ``--tb=line`` says that tests failed; no run may say that frames are hidden."""
    found = []
    for option in ("--tb=short", "--tb=line"):
        result = project.run(option)
        result.assert_outcomes(failed=1)
        assert "hidden" not in result.stdout.str()
        found = [match[1] for line in result.outlines if (match := re.match(r"(\S+\.py:\d+): ", line))]
    return found


def stop(project):
    """Return where ``--pdb`` stops."""
    project.write("stops.py", "import pdb\nclass Stops(pdb.Pdb):\n def cmdloop(self, _=0): self.do_w('')\n")
    output = project.run("--pdb", "--pdbcls=stops:Stops").stdout.str()
    return ":".join(re.search(r"(?m)^> (\S+)\((\d+)\)", output).groups())
