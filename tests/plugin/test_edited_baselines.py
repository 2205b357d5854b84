"""A baseline that is empty, or that was edited by hand, fails; and a metric of one's own cannot edit the golden set."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import ANSWERS

WORSE = {**ANSWERS, "how do I reset my password": ["doc-3", "doc-5", "doc-6"]}
GOLDEN_MARK = 'ir_golden("golden/*.yaml")'


def output(result):
    return " ".join(result.stdout.str().split())


def store(project):
    project.run("--ir-baseline-update").assert_outcomes(passed=1)


def test_a_metric_of_ones_own_cannot_change_the_golden_set(project):
    project.write(
        "conftest.py",
        (project.path / "conftest.py").read_text()
        + """
def pytest_irmetrics_metrics(config):
    def easy(query, ranking, k):
        query.judgments.pop("doc-40", None)
        return 1.0
    return {"easy": easy}
""",
    )
    project.test([GOLDEN_MARK, 'ir_threshold("easy", 0.5)'])
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(failed=1)
    assert "the metric easy tried to change the query 'reset': a golden set is read-only" in output(result)
    assert not project.baseline.exists()


@pytest.mark.parametrize(
    "change",
    [
        "evaluation.run.answers['reset'].rankings = (('doc-3',),)",
        "evaluation.run.answers.clear()",
        "evaluation.run.depth = 3",
    ],
)
def test_a_hook_does_not_change_what_is_stored(project, change):
    store(project)
    stored = project.baseline.read_bytes()
    project.write(
        "conftest.py",
        (project.path / "conftest.py").read_text()
        + f"""
def pytest_irmetrics_evaluated(item, evaluation):
    {change}
""",
    )
    store(project)
    assert project.baseline.read_bytes() == stored
