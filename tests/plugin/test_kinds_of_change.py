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


def test_the_sentence_is_in_the_failure_and_in_each_report(site):
    options = [f"--ir-report=report.{suffix}" for suffix in ("md", "html", "json")]
    result = change(site, lambda n: ranking(n)[1:], *options)
    result.assert_outcomes(failed=1)
    sentence = (
        "The first result of the baseline is missing from 12 of 12 answers, and the rest moved up by one."
    )
    assert sentence in printed(result)
    for suffix in ("md", "html"):
        assert sentence in (site.path / f"report.{suffix}").read_text(encoding="utf-8")
    (test,) = json.loads((site.path / "report.json").read_text(encoding="utf-8"))["tests"]
    assert test["kind"] == "first_missing"
    assert test["kind_sentences"][0].startswith(sentence)


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


def test_documents_that_nobody_judged_are_not_ids_of_another_kind_where_the_baseline_has_them(project):
    """The second page: of two judged documents a query none is in any answer, but the ids are the index's."""
    judged = [{"query": f"question {n}", "relevant": [f"{n}a"]} for n in range(QUERIES)]
    project.write("golden/faq.yaml", json.dumps({"queries": judged}))
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("ndcg@10", max_drop=0.01)'])
    project.answers({f"question {n}": [f"{n}a", *ranking(n, 6)] for n in range(QUERIES)})
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    result = change(project, lambda n: [f"{n}c", *ranking(n + 30, 6)])
    result.assert_outcomes(failed=1)
    text = printed(result)
    assert "No judged document came back for any query: none of the " in text
    assert "so they are ids of this index." in text
    assert "this is about ids" not in text
    assert "12 of 12 answers share no document with the baseline's." in text


def test_other_unknown_ids_are_given_no_kind(site):
    result = change(
        site, lambda n: [f"{n}:{step * 31 % 17}" for step in range(10)], "--ir-report=report.json"
    )
    result.assert_outcomes(failed=1)
    (test,) = json.loads((site.path / "report.json").read_text(encoding="utf-8"))["tests"]
    assert test["kind"] is None


def test_no_judgments_are_asked_for_where_the_answers_show_a_cause(site):
    """An advertisement on top is not judged, and takes the blame; judging it would be the wrong thing to do."""
    result = change(site, lambda n: ["advertisement", *ranking(n)][:10])
    result.assert_outcomes(failed=1)
    assert "'advertisement' is in 12 of 12 answers, at rank 1 in 12, and was in 0." in printed(result)
    assert "new and unjudged" not in printed(result)


@pytest.mark.parametrize(("known", "asked"), [("advertisement", False), ("{n}-article", True)])
def test_nor_in_a_note_on_a_fall_that_passes(site, known, asked):
    site.test(['ir_golden("golden/*.yaml")', 'ir_threshold("ndcg@10", max_drop=0.9)'])
    result = change(site, lambda n: [known.format(n=n), *ranking(n)][:10])
    result.assert_outcomes(passed=1)
    assert ("new and unjudged" in printed(result)) is asked


@pytest.mark.parametrize(
    ("added", "asked"), [("advertisement {place}", False), ("{n}-article-{place}", True)]
)
def test_nor_where_far_fewer_of_the_results_are_judged(site, added, asked):
    site.test(['ir_golden("golden/*.yaml")', 'ir_threshold("ndcg@10", max_drop=0.9)'])
    result = change(
        site, lambda n: [*(added.format(n=n, place=place) for place in range(4)), *ranking(n)][:10]
    )
    result.assert_outcomes(passed=1)
    assert ("judged" in printed(result).partition("retrieval quality")[2]) is asked
