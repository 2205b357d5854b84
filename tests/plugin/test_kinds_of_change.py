"""The kind of a change where people see it: in the failure, in Markdown, HTML and JSON, and in notes of a run that passes."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import printed

QUERIES = 12


def answer(n):
    return [f"k{(5 * n + 7 * step * step) % 59}z" for step in range(12)]


def ranking(n, depth=10):
    return list(dict.fromkeys(answer(n)))[:depth]


@pytest.fixture
def site(project):
    """Twelve queries whose results are all judged, the first and third as relevant, with a stored baseline."""
    queries = [
        {
            "query": f"question {n}",
            "relevant": {**dict.fromkeys(ranking(n), 0), ranking(n)[0]: 2, ranking(n)[2]: 1},
        }
        for n in range(QUERIES)
    ]
    project.write("golden/faq.yaml", json.dumps({"queries": queries}))
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("ndcg@10", max_drop=0.01)'])
    project.answers({f"question {n}": ranking(n) for n in range(QUERIES)})
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    return project


def change(site, how, *options):
    site.answers({f"question {n}": how(n) for n in range(QUERIES)})
    return site.run("--ir-baseline", *options)


def test_a_pass_has_no_kind(site):
    change(site, ranking, "--ir-report=report.json").assert_outcomes(passed=1)
    (test,) = json.loads((site.path / "report.json").read_text(encoding="utf-8"))["tests"]
    assert (test["kind"], test["kind_sentences"]) == (None, [])


def test_ids_that_the_golden_set_does_not_know_are_told_from_the_baselines(site):
    result = change(site, lambda n: [f"kb/{doc}" for doc in ranking(n)], "--ir-report=report.json")
    result.assert_outcomes(failed=1)
    text = printed(result)
    assert "this is about ids, not about quality." in text
    assert (
        f"came back in another spelling than before: {ranking(0)[0]!r} is now 'kb/{ranking(0)[0]}'." in text
    )
    (test,) = json.loads((site.path / "report.json").read_text(encoding="utf-8"))["tests"]
    assert test["kind"] == "ids_respelt"


def test_other_unknown_ids_are_given_no_kind(site):
    result = change(
        site, lambda n: [f"{n}:{step * 31 % 17}" for step in range(10)], "--ir-report=report.json"
    )
    result.assert_outcomes(failed=1)
    (test,) = json.loads((site.path / "report.json").read_text(encoding="utf-8"))["tests"]
    assert test["kind"] is None
