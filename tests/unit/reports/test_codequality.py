"""GitLab's Code Quality report: the fields that GitLab documents, at the golden set's line, the same finding from run to run."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pytest_irmetrics.reports import SessionReport
from pytest_irmetrics.reports.codequality import render
from tests.unit.reports.samples import (
    HOSTILE,
    INFO,
    NODE,
    accepting,
    broken,
    failing,
    gate,
    hostile,
    passing,
    query,
)


def findings(session):
    found = json.loads(render(session))
    for finding in found:
        assert set(finding) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert finding["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert set(finding["location"]) == {"path", "lines"}
        assert set(finding["location"]["lines"]) == {"begin"}
        assert finding["location"]["lines"]["begin"] >= 1
        assert finding["description"].isprintable()
    assert len({finding["fingerprint"] for finding in found}) == len(found)
    return found


def places(session):
    return [
        f"{finding['location']['path']}:{finding['location']['lines']['begin']}"
        for finding in findings(session)
    ]


def test_each_failed_gate_is_a_finding_at_its_worst_query():
    queries = [query("hours", where="golden/faq.yaml:3"), query()]
    gates = [gate(), gate(metric="ndcg@10", queries=["hours"]), gate("passed", "map")]
    session = SessionReport([failing(queries=queries, gates=gates), passing()], 1)
    assert places(session) == ["golden/faq.yaml:12", "golden/faq.yaml:3"]
    first, _ = findings(session)
    assert first["check_name"] == "irmetrics.max_drop"
    assert first["severity"] == "major"
    assert first["description"] == (
        "golden/faq.yaml: mrr fell by 0.5000 from the baseline to 0.5000; at most 0.0100 is allowed."
    )


def test_a_gate_without_a_query_is_a_finding_at_its_threshold():
    item = failing(gates=[gate(queries=[], origin="golden/faq.yaml:4:3"), gate(metric="map", queries=[])])
    assert places(SessionReport([item], 1)) == ["golden/faq.yaml:4", "golden/faq.yaml:1"]


def test_the_path_is_that_in_the_repository():
    assert places(SessionReport([failing()], 1, info=INFO)) == ["services/faq/golden/faq.yaml:12"]


def test_each_problem_of_a_golden_set_is_a_finding():
    assert places(broken([])) == ["golden/new.yaml:3", "golden/new.yaml:9"]
    assert findings(broken([]))[0]["severity"] == "critical"


def test_a_gate_that_fails_again_is_the_same_finding():
    """GitLab tells what a merge request brings from what was there before by the fingerprint."""
    before, after = failing(), failing(gates=[gate(text="mrr fell by 0.6", queries=["refund"])])
    after = replace(after, queries=[query(where="golden/faq.yaml:99")])
    (first,), (second,) = (findings(SessionReport([item], 1)) for item in (before, after))
    assert first["fingerprint"] == second["fingerprint"]
    (other,) = findings(SessionReport([failing(gates=[gate(tag="billing")])], 1))
    assert other["fingerprint"] != first["fingerprint"]


def test_the_own_thresholds_of_two_queries_are_two_findings():
    queries = [query("a"), query("b")]
    gates = [gate(word="min", single=True, queries=[name]) for name in ("a", "b")]
    assert len(findings(SessionReport([failing(queries=queries, gates=gates)], 1))) == 2


def test_a_query_that_could_not_be_retrieved_is_critical():
    item = failing(outcome="error", gates=[gate(word="errors", metric=None, shares=[])])
    assert findings(SessionReport([item], 1))[0]["severity"] == "critical"


def test_what_a_branch_accepts_is_a_minor_finding_at_the_baseline():
    (found,) = findings(SessionReport([accepting()]))
    assert (found["check_name"], found["severity"]) == ("irmetrics.accepted", "minor")
    assert found["location"]["path"] == "ir_baselines/test_x/test[faq].json"
    assert findings(SessionReport([accepting(refused=True)])) == []


def test_what_passes_or_is_expected_to_fail_is_no_finding():
    assert findings(SessionReport([passing(), failing()], 0, {NODE: "xfailed"})) == []


@pytest.mark.parametrize("items", [[hostile()], []], ids=["measured", "unmeasured"])
def test_hostile_text_is_inert(items):
    text = render(SessionReport(items, 1, {}, {HOSTILE[0]: "\n".join(HOSTILE)}))
    assert text.isascii()
    assert not re.search(r"\\u202e|\\u001b|\\u0000", text.replace("\\\\", ""))
