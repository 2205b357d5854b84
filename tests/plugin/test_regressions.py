"""Gate on how far the retriever fell from the stored baseline."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import (
    ANSWERS,
    edit_golden_set,
    make_ranking_worse,
    printed,
)


def test_an_unchanged_retriever_passes(stored):
    result = stored.run("--ir-baseline", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*metric*n*now*baseline*delta*gate*verdict", "*mrr * 0.8333 *0.8333*passes"])


def test_a_drop_fails_and_says_which_document_moved_below_what(stored):
    make_ranking_worse(stored)
    result = stored.run("-v", "--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "mrr fell by 0.2222 from the baseline to 0.6111; at most 0.0100 is allowed.",
            "  3 queries: 1 worse, 0 better, 2 same.",
            "golden/faq.yaml:5: refund",
            "  query     refund policy",
            "  mrr 1.0000 → 0.3333",
            "  baseline  1 doc-9(3) 2 doc-4(1) 3 doc-5",
            "  now       1 doc-5 2 doc-6 3 doc-9(3)",
            "  doc-9 (grade 3) fell from rank 1 to 3, overtaken by doc-5 (unjudged), doc-6",
            "    (unjudged).",
            "  doc-4 (grade 1) is no longer among the 3 results (it was at rank 2); new is",
            "    doc-6 (unjudged).",
            "To look closer: pytest 'test_search.py::test_search_quality?faq?' --ir-baseline --ir-query refund",
            "To accept it:   pytest 'test_search.py::test_search_quality?faq?' --ir-baseline-update",
        ]
    )


def test_the_number_of_queries_that_explain_a_drop_is_that_of_all(project):
    """A record names twenty of them; what is said of them must not contradict how many are worse."""
    many = {f"question {number}": [f"doc-{number}"] for number in range(1_100)}
    queries = [{"query": text, "relevant": found} for text, found in many.items()]
    project.write("golden/faq.yaml", json.dumps({"queries": queries}))
    project.answers(many)
    project.run("-v", "--ir-baseline-update").assert_outcomes(passed=1)
    project.answers({text: ["doc-x", *found] for text, found in many.items()})
    result = project.run("-v", "--ir-baseline", "--ir-report=report.md")
    result.stdout.fnmatch_lines(
        [
            "  1,100 queries: 1,100 worse, 0 better, 0 same.",
            "The 3 of 1,100 queries that matter most (under 1% of what mrr lost):",
            "Also: *",
        ]
    )
    assert "and 1,087 more." in printed(result)
    report = (project.path / "report.md").read_text(encoding="utf-8")
    assert "The 1,100 queries that explain it" in report
    project.answers({text: ["doc-x"] for text in many})
    result = project.run("-v")
    result.stdout.fnmatch_lines(
        ["  Returned: 'doc-x'.", "  Expected: 'doc-0', 'doc-1', 'doc-10' and 1,097 more."]
    )


def test_the_setting_gates_and_the_option_turns_it_off(stored):
    make_ranking_worse(stored)
    stored.write("pytest.ini", "[pytest]\nir_baseline = true\n")
    stored.run().assert_outcomes(failed=1)
    stored.run("--no-ir-baseline").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("limit", "outcome"), [("0.3", "passed"), ('"27%"', "passed"), ('"20%"', "failed"), ('"off"', "passed")]
)
def test_max_drop_is_absolute_or_a_share_of_the_baseline(stored, limit, outcome):
    make_ranking_worse(stored)
    stored.test(['ir_golden("golden/*.yaml")', f'ir_threshold("mrr", 0.1, max_drop={limit})'])
    stored.run("--ir-baseline").assert_outcomes(**{outcome: 1})


def test_max_lost_counts_the_queries_that_fell_to_nothing(stored):
    stored.answers({**ANSWERS, "refund policy": ["doc-5"]})
    mark = 'ir_threshold("mrr", max_lost={}, max_drop="off")'
    stored.test(['ir_golden("golden/*.yaml")', mark.format(1)])
    stored.run("--ir-baseline").assert_outcomes(passed=1)
    stored.test(['ir_golden("golden/*.yaml")', mark.format(0)])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 of 3 queries fell to 0 by mrr; none may."])


def test_significance_narrows_max_drop(stored):
    make_ranking_worse(stored)
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01, significance=0.05)'])
    result = stored.run("--ir-baseline", "-v")
    result.assert_outcomes(passed=1)


def test_significance_without_a_drop_to_narrow_is_never_silent(stored):
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", significance=0.05)'])
    result = stored.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*mrr: significance 0.05 is not checked without --ir-baseline."])
    stored.run("--ir-baseline").assert_outcomes(passed=1)  # narrows the drop that ir_max_drop allows
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", significance=0.05, max_drop="off")'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["mrr: significance 0.05 has no max_drop to narrow.*"])


def test_the_reported_metrics_are_gated_where_no_threshold_is(stored):
    make_ranking_worse(stored)
    stored.test('ir_golden("golden/*.yaml")')
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["ndcg@10 fell by *"])


NOISY = """
    import itertools, pytest

    @pytest.fixture(scope="session")
    def retriever():
        turns = itertools.count()
        places = {places}

        def search(query, k):
            if query != "refund policy":
                return ["doc-12", "doc-40", "doc-1"]
            ranking = [f"other-{{n}}" for n in range(4)]
            ranking.insert(places[next(turns) % len(places)], "doc-9")
            return ranking

        return search
"""


def test_a_drop_within_run_noise_passes_and_is_never_silent(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'])
    project.write("conftest.py", NOISY.format(places=[0, 0, 0, 1]))
    project.run("--ir-repeat=4", "--ir-baseline-update").assert_outcomes(passed=1)
    project.write("conftest.py", NOISY.format(places=[0, 1, 0, 1]))
    result = project.run("--ir-repeat=4", "--ir-baseline", "-v")
    result.assert_outcomes(passed=1)
    text = printed(result)
    # 1, 1, 1, 1/2 against 1, 1/2, 1, 1/2: variances of 1/16 and 1/12, each over 4 repeats and 3 queries squared. One query
    # varies, so its variance is that of the passes, with 5.88 degrees of freedom.
    assert (
        "hint: A fall fails where it exceeds max_drop by more than differs from run to run: mrr 0.1241 (1.95 × the "
        "standard deviation 0.0636)." in text
    )
    assert (
        "note: mrr moved by −0.0417 from the baseline; at most 0.0100 is allowed, and this much more is"
        in text
    )
    assert (
        "note: max_drop 0.0100 of mrr is less than what differs from run to run: with 4 answers a query on each side a fall "
        "fails beyond 0.1341, with 10 (--ir-repeat=10) beyond about 0.08. Least stable: refund." in text
    )
    project.write("conftest.py", NOISY.format(places=[4, 4, 4, 4]))
    project.run("--ir-repeat=4", "--ir-baseline").assert_outcomes(failed=1)


def test_a_mean_over_deeper_rankings_than_the_baselines_is_said_to_be_that(stored):
    stored.test(['ir_golden("golden/*.yaml", depth=20)', 'ir_threshold("recall@20", 0.5)'])
    stored.answers(ANSWERS | {"opening hours": [*(f"doc-{n}" for n in range(100, 112)), "doc-1"]})
    result = stored.run("--ir-baseline", "-v")
    assert (
        "Over today's results as deep as they are, not cut at 10: mrr 0.6923, map 0.6368, recall@20 1.0000"
        in printed(result)
    )
    assert "The depths differ, 20 today and 10 in the baseline; both are cut at 10." in printed(result)
    assert "counterpart" not in printed(result)


def test_a_deeper_cut_off_than_the_baseline_holds_fails_and_names_the_update(stored):
    stored.write("pytest.ini", "[pytest]\nir_depth = 20\n")
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("recall@20", 0.1)'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["recall@20 needs 20 results a query, and the baseline holds 10.", "*--ir-baseline-update*"]
    )


def test_a_deeper_run_is_shown_as_deep_as_the_baseline(stored):
    """Nobody knows what stood below: what is found there is no news."""
    stored.answers({**ANSWERS, "refund policy": ["doc-5", "doc-9", *(f"x{n}" for n in range(8)), "doc-4"]})
    stored.test(['ir_golden("golden/*.yaml", depth=20)', 'ir_threshold("recall", max_drop=0.01)'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    text = printed(result)
    assert "doc-4 (grade 1): rank 2 → gone" in text
    assert "recall 1.0000 → 0.5000" in text


TURNS = """
    import itertools, pytest

    @pytest.fixture(scope="session")
    def retriever():
        turns = itertools.cycle({answers})
        return lambda query, k: next(turns).split()
"""


def test_of_several_answers_one_that_shows_the_fault_is_shown(project):
    project.write(
        "golden/faq.yaml",
        "queries:\n  - {id: refund, query: refund policy, relevant: [doc-9], forbidden: [bad]}\n",
    )
    project.write("conftest.py", TURNS.format(answers=["doc-9 x", "x doc-9"]))
    project.run("-v", "--ir-repeat=2", "--ir-baseline-update").assert_outcomes(passed=1)
    project.write("conftest.py", TURNS.format(answers=["doc-9 x", "x bad"]))
    result = project.run("-v", "--ir-repeat=2", "--ir-baseline")
    result.assert_outcomes(failed=1)
    text = printed(result)
    assert "now 1 x 2 bad(forbidden) bad is forbidden and stands at rank 2" in text
    assert "note: Today's scores are averages over 2 answers a query, the baseline's averages over 2" in text


def test_a_drop_that_is_not_significant_passes_and_is_said(stored):
    make_ranking_worse(stored)
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01, significance=0.05)'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    assert (
        "note: mrr fell by 0.2222 from the baseline to 0.6111; at most 0.0100 is allowed. p = 0.50 is not below the "
        "significance 0.05." in printed(result)
    )


def test_slices_are_told_where_nothing_is_gated(stored):
    stored.test('ir_golden("golden/*.yaml")')
    result = stored.run("--ir-baseline", "-o", "ir_max_drop=off", "-vv")
    result.assert_outcomes(passed=1)
    assert "ndcg@10 by tag n now baseline delta joint 95 %" in printed(result)


def test_unjudged_results_are_no_news_where_nothing_fell(stored):
    stored.answers({**ANSWERS, "opening hours": ["doc-1", *(f"x{n}" for n in range(9))]})
    result = stored.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    assert "were never judged" not in printed(result)


def test_what_a_new_baseline_would_mend_comes_with_its_command(stored):
    edit_golden_set(stored, "query: refund policy", "query: refunds")
    edit_golden_set(stored, "query: opening hours", "query: when open")
    stored.answers({"refunds": ["doc-9"], "when open": ["doc-1"], **ANSWERS})
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["To accept it: * --ir-baseline-update"])


def test_what_a_new_baseline_would_not_mend_comes_without_its_command(stored):
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    make_ranking_worse(stored)
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("To accept it*")
