"""A baseline in which any values were changed, numbers at the ends of their ranges above all, is gated on through the plugin."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.extreme_numbers import edited, numbers, places, replaced
from tests.plugin.conftest import ANSWERS, text_of
from tests.reached import often, reached

NOTHING = {query: ["doc-404"] for query in ANSWERS}
MARKS = [
    'ir_golden("golden/*.yaml")',
    'ir_threshold("ndcg@10", max_drop=0.01)',
    'ir_threshold("mrr", max_lost=0)',
]

# A run of pytest takes as long as many examples of other tests do.
some = settings(
    max_examples=max(10, settings().max_examples // 5),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)


def store(project):
    """Store a baseline with weights, grades and tags of all kinds; return its JSON."""
    project.test(MARKS)
    text = (project.path / "golden/faq.yaml").read_text(encoding="utf-8")
    (project.path / "golden/faq.yaml").write_text(
        text.replace("tags: [billing]", "tags: [billing]\n    weight: 2.5\n    params: {}"), encoding="utf-8"
    )
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    return project.baseline.read_text(encoding="utf-8")


def gate(project, text, *options):
    project.baseline.write_bytes(text.encode("utf-8", "surrogatepass"))
    result = project.run("-v", "--ir-baseline", *options)
    text_of(result)  # without a sign of an error of ours
    assert result.ret in (0, 1)
    outcomes = result.parseoutcomes()
    assert outcomes.get("passed", 0) + outcomes.get("failed", 0) >= 1
    return result


@often(0.1)
@some
@given(st.data())
def test_no_edit_ends_in_a_traceback_or_lets_a_search_pass_that_finds_nothing(project, data):
    project.answers(ANSWERS)
    if not project.baseline.exists():
        project.stored = store(project)
    text = data.draw(edited(json.loads(project.stored)))
    project.answers(NOTHING)
    result = gate(project, text)
    output = text_of(result)
    # Some are refused as files that no update wrote; the others are compared with.
    reached("fell by" in output or "was edited" in output or "lost" in output)
    result.assert_outcomes(failed=result.parseoutcomes()["failed"], passed=0)


@some
@given(st.data())
def test_no_edit_hides_a_fall_of_one_query(project, data):
    project.answers(ANSWERS)
    if not project.baseline.exists():
        project.stored = store(project)
    document = json.loads(project.stored)
    told = [
        path
        for path in places(document)
        if "rankings" not in path and "text" not in path and "id" not in path
    ]
    text = replaced(document, data.draw(st.sampled_from(told)), data.draw(numbers))
    project.answers({**ANSWERS, "refund policy": ["doc-404"]})
    assert gate(project, text).parseoutcomes().get("passed", 0) == 0


@some
@given(st.data())
def test_an_update_mends_any_edit(project, data):
    project.answers(ANSWERS)
    if not project.baseline.exists():
        project.stored = store(project)
    gate(project, data.draw(edited(json.loads(project.stored))), "--ir-report=json:report.json", "-v")
    result = project.run("--ir-baseline-update")
    text_of(result)
    result.assert_outcomes(passed=1)
    assert project.baseline.read_text(encoding="utf-8") == project.stored
