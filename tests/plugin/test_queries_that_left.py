"""Queries that left a golden set or joined it are said with their scores, and with what that does to its means."""

from __future__ import annotations

from tests.plugin.conftest import GOLDEN_MARK, printed, store


def golden(project, scores, marks=""):
    """Write a golden set of one query for each score, which it has by the rank of its document: 1.0 or 0.1."""
    lines = [f"  - {{id: {name}, query: {name}, relevant: {name}-doc{marks}}}" for name in scores]
    project.write("golden/faq.yaml", "queries:\n" + "\n".join(lines) + "\n")


def answer(project, scores):
    """Let the search find the document of each query at the rank of its score."""
    filler = [f"other-{number}" for number in range(9)]
    answers = {
        name: [f"{name}-doc", *filler] if score == 1.0 else [*filler, f"{name}-doc"]
        for name, score in scores.items()
    }
    project.answers(answers)


def of(prefix, count, score):
    return {f"{prefix}{number}": score for number in range(count)}


def store_scores(project, scores, minimum=0.5):
    """Store a baseline of queries with these scores, under a threshold of mrr."""
    project.test([GOLDEN_MARK, f'ir_threshold("mrr", {minimum})'])
    golden(project, scores)
    answer(project, scores)
    store(project)


def test_removed_queries_are_said_with_their_scores_and_the_mean_with_them(project):
    scores = {**of("easy", 8, 1.0), **of("hard", 2, 0.1)}
    store_scores(project, scores)
    golden(project, of("easy", 8, 1.0))
    for options in (["--ir-baseline"], ["--ir-baseline", "-q"], ["--ir-baseline-update"]):
        text = printed(project.run(*options))
        assert (
            "2 queries of the baseline not in the golden set any more: hard0 (mrr 0.1000), hard1 (mrr 0.1000). With "
            "them, at the scores that they had, mrr would be 0.8200, not 1.0000." in text
        ), options


def test_added_queries_are_said_with_the_mean_without_them_and_the_min_that_they_lift(project):
    scores = {**of("old", 5, 1.0), **of("bad", 3, 0.1)}
    store_scores(project, scores, 0.65)
    worse = {**scores, "old0": 0.1, **of("new", 10, 1.0)}
    golden(project, worse)
    answer(project, worse)
    text = printed(project.run("--ir-baseline-update"))
    assert "10 queries new since the baseline" in text
    assert "Without them mrr is 0.5500, not 0.8000, below its `min` 0.65." in text


def test_queries_that_are_newly_excluded_are_said_with_the_mean_with_them(project):
    scores = of("q", 4, 1.0)
    store_scores(project, scores)
    text = (project.path / "golden/faq.yaml").read_text().replace("q0-doc}", "q0-doc, xfail: T-1}")
    project.write("golden/faq.yaml", text)
    answer(project, {**scores, "q0": 0.1})
    text = printed(project.run("--ir-baseline", "-q"))
    assert (
        "1 query is marked xfail since the baseline, so no gate looks at it any more: q0. With it, at today's score, mrr "
        "would be 0.7750, not 1.0000." in text
    )


def test_an_effect_that_is_next_to_nothing_is_not_said(project):
    scores = {**of("q", 99, 1.0), "hard": 0.1}
    store_scores(project, scores)
    golden(project, of("q", 99, 1.0))
    text = printed(project.run("--ir-baseline"))
    assert "not in the golden set any more: hard (mrr 0.1000)." in text
    assert "With it" not in text


def test_a_fall_of_the_judged_share_is_said_where_no_mean_falls(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'])
    lines = ["queries:"]
    lines += [f"  - {{id: q{n}, query: q{n}, relevant: {{doc: 1, a: 0, b: 0, c: 0}}}}" for n in range(6)]
    project.write("golden/faq.yaml", "\n".join(lines) + "\n")
    project.answers({f"q{n}": ["doc", "a", "b", "c"] for n in range(6)})
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    project.answers({f"q{n}": ["doc", "x", "y", "z"] for n in range(6)})
    for option in ("--ir-baseline", "--ir-baseline-update"):
        text = printed(project.run(option))
        assert "judged@10 fell from 1.0000 to 0.2500 since the baseline" in text, option
        assert "pytest-irmetrics label" in text


def test_a_failure_tells_the_judged_share_over_all_queries_and_over_those_compared(project):
    store_scores(project, of("q", 4, 1.0))
    golden(project, of("q", 5, 1.0))
    project.answers({**{f"q{n}": ["x", f"q{n}-doc"] for n in range(4)}, "q4": ["q4-doc"]})
    result = project.run("-v", "--ir-baseline")
    result.assert_outcomes(failed=1)
    assert "5 queries, judged@10 0.6000 (4 compared: 0.1000 → 0.5000)" in printed(result)
