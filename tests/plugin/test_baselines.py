"""The gate against the stored baseline, and every way in which it could vanish unseen."""

from __future__ import annotations

import json
import os

import pytest

from tests.plugin.conftest import ANSWERS


@pytest.fixture
def stored(project):
    """Give a project whose baseline is stored."""
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    return project


def worse(project):
    project.answers({**ANSWERS, "refund policy": ["doc-5", "doc-6", "doc-9"]})


def test_an_update_stores_the_run_and_the_same_run_gives_the_same_bytes(stored):
    first = stored.baseline.read_bytes()
    data = json.loads(first)
    assert data["golden_set"] == "golden/faq.yaml"
    assert [query["id"] for query in data["queries"]] == ["hours", "refund", "reset"]
    assert data["queries"][1]["rankings"] == [["doc-9", "doc-4", "doc-5"]]
    result = stored.run("--ir-baseline-update")
    assert stored.baseline.read_bytes() == first
    result.stdout.fnmatch_lines(["baseline ir_baselines/test_search/*.json: unchanged"])


def test_nothing_is_created_unasked(project):
    project.run().assert_outcomes(passed=1)
    project.run("--ir-baseline").assert_outcomes(failed=1)
    assert not (project.path / "ir_baselines").exists()


def test_without_a_baseline_the_test_fails_and_names_the_command_that_makes_one(project):
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "There is no baseline for this test: ir_baselines/test_search/test_search_quality?faq?.json.",
            "To store one, and then commit it: pytest 'test_search.py::*' --ir-baseline-update",
        ]
    )


@pytest.mark.parametrize("test", ["def", "async def"])
def test_without_a_baseline_nobody_is_asked(project, test):
    project.retrieve("pytest.exit('was asked')")
    project.test(['ir_golden("golden/*.yaml")'])
    if test == "async def":
        project.make_async()
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["There is no baseline for this test: *"])


def test_a_renamed_test_is_told_which_baseline_was_its_own(stored):
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'], name="test_renamed")
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert "git mv 'ir_baselines/test_search/test_search_quality[faq].json'" in told(result)
    stored.baseline.rename(stored.baseline.with_name("test_renamed[faq].json"))
    stored.run("--ir-baseline").assert_outcomes(passed=1)


def test_of_several_baselines_without_a_test_the_one_of_the_same_golden_set_is_offered(project):
    project.write("golden/help.yaml", (project.path / "golden" / "faq.yaml").read_text())
    project.run("--ir-baseline-update").assert_outcomes(passed=2)
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'], name="test_renamed")
    output = told(project.run("--ir-baseline"))
    for name in ("faq", "help"):
        old, new = (
            f"'ir_baselines/test_search/test_{test}[{name}].json'" for test in ("search_quality", "renamed")
        )
        assert f"git mv {old} {new}" in output


def test_an_unchanged_retriever_passes(stored):
    result = stored.run("--ir-baseline", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*metric*n*now*baseline*delta*gate*verdict", "*mrr * 0.8333 *0.8333*passes"])


def test_a_drop_fails_and_says_which_document_moved_below_what(stored):
    worse(stored)
    result = stored.run("--ir-baseline")
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
            "  doc-9 (grade 3) fell from rank 1 to 3, below doc-5 (unjudged), doc-6",
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
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    project.answers({text: ["doc-x", *found] for text, found in many.items()})
    result = project.run("--ir-baseline", "--ir-report=report.md")
    result.stdout.fnmatch_lines(
        [
            "  1,100 queries: 1,100 worse, 0 better, 0 same.",
            "The 3 of 1,100 queries that matter most (under 1% of what mrr lost):",
            "Also: *",
        ]
    )
    assert "and 1,087 more." in " ".join(result.stdout.str().split())
    report = (project.path / "report.md").read_text(encoding="utf-8")
    assert "The 1,100 queries that explain it" in report
    project.answers({text: ["doc-x"] for text in many})
    result = project.run()
    result.stdout.fnmatch_lines(
        ["  Returned: 'doc-x'.", "  Expected: 'doc-0', 'doc-1', 'doc-10' and 1,097 more."]
    )


def test_an_updating_run_prints_what_it_lowers_and_then_the_drop_is_accepted(stored):
    worse(stored)
    result = stored.run("--ir-baseline-update")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*lowered: mrr 0.8333 → 0.6111 (−0.2222)", "baseline *: stored"])
    stored.run("--ir-baseline").assert_outcomes(passed=1)


@pytest.mark.parametrize("why", ["failed", "failed in teardown", "xfailed", "asked for one query"])
def test_what_is_not_stored_lowers_nothing(stored, why):
    worse(stored)
    before = stored.baseline.read_bytes()
    mark = ['ir_threshold("mrr", 0.9)'] if why in ("failed", "xfailed") else []
    stored.test(['ir_golden("golden/*.yaml")', *mark, *(["xfail"] if why == "xfailed" else [])])
    if why == "failed in teardown":
        conftest = (stored.path / "conftest.py").read_text(encoding="utf-8")
        ends = "@pytest.fixture(autouse=True)\ndef ends():\n    yield\n    raise OSError\n"
        stored.write("conftest.py", f"{conftest}\n{ends}")
    query = ["--ir-query", "refund"] if why == "asked for one query" else []
    result = stored.run("--ir-baseline-update", "--ir-report=report.md", *query)
    assert stored.baseline.read_bytes() == before
    assert "lowered" not in result.stdout.str()
    assert "lowers" not in (stored.path / "report.md").read_text(encoding="utf-8")
    name = "test_search.py::test_search_quality[faq]"
    unstored = f"note: No baseline was stored for 1 test that failed: {name}."
    assert (unstored in told(result)) == why.startswith("failed")


def test_what_a_new_baseline_would_not_mend_is_not_to_be_accepted(stored):
    worse(stored)
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'])
    assert "To accept it:" in told(stored.run("--ir-baseline"))
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9, max_drop=0.01)'])
    assert "To accept it:" not in told(stored.run("--ir-baseline"))


def test_a_quiet_updating_run_prints_what_it_lowers_too(stored):
    worse(stored)
    stored.run("--ir-baseline-update", "-q").stdout.fnmatch_lines(
        [
            "retrieval quality: 1 golden set, all pass",
            "golden/faq.yaml: lowered: mrr 0.8333 → 0.6111 (−0.2222)",
        ]
    )


def test_the_setting_gates_and_the_option_turns_it_off(stored):
    worse(stored)
    stored.write("pytest.ini", "[pytest]\nir_baseline = true\n")
    stored.run().assert_outcomes(failed=1)
    stored.run("--no-ir-baseline").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("limit", "outcome"), [("0.3", "passed"), ('"27%"', "passed"), ('"20%"', "failed"), ('"off"', "passed")]
)
def test_max_drop_is_absolute_or_a_share_of_the_baseline(stored, limit, outcome):
    worse(stored)
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
    result.stdout.fnmatch_lines(["1 query of 3 lost every point of mrr*at most 0 may be."])


def test_significance_narrows_max_drop(stored):
    worse(stored)
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
    worse(stored)
    stored.test('ir_golden("golden/*.yaml")')
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["ndcg@10 fell by *"])


def test_a_change_of_labels_is_not_a_change_of_the_retriever(stored):
    golden = stored.path / "golden/faq.yaml"
    golden.write_text(golden.read_text().replace("relevant: doc-1\n", "relevant: [doc-99]\n"))
    stored.test('ir_golden("golden/*.yaml")')
    result = stored.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    joined = " ".join(" ".join(result.outlines).split())
    assert "2 judgments of 1 query changed since the baseline was stored, so it was scored anew" in joined
    assert "mrr −0.1667 = −0.1667 labels 0.0000 retriever" in joined
    assert (
        "golden/faq.yaml:9 hours: doc-1 1 → removed; golden/faq.yaml:11 hours: doc-99 unjudged → 1" in joined
    )


def relabel(project, old, new):
    golden = project.path / "golden/faq.yaml"
    text = golden.read_text(encoding="utf-8")
    assert old in text
    golden.write_text(text.replace(old, new), encoding="utf-8")


def told(result):
    """What was printed, whatever the line breaks."""
    return " ".join(" ".join(result.outlines).split())


def test_labels_that_make_a_bad_change_look_good_do_not_hide_it(stored):
    """The baseline's answers score lower under the new judgments too, and today's scores alone would look fine."""
    worse(stored)
    relabel(stored, "doc-4: 1, doc-7: 0}", "doc-4: 1, doc-5: 3}")
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("ndcg@3", 0.1)'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "ndcg@3 fell by 0.0390 from the baseline to 0.7950; at most 0.0100 is allowed.",
            "  From 0.8502 when it was stored to 0.7950 today: −0.0390 is the retriever's",
            "  doing, −0.0162 that of changed judgments. Only the retriever's part is gated.",
        ]
    )


JUDGED_RELEVANT = "relevant: {doc-9: 1, doc-5: 3, doc-6: 3}"


def test_labels_that_turn_a_bad_change_into_a_good_one_do_not_pass_it(stored):
    """All that came in is judged relevant: under today's judgments the retriever is better than it ever was."""
    worse(stored)
    relabel(stored, "relevant: {doc-9: 3, doc-4: 1, doc-7: 0}", JUDGED_RELEVANT)
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("ndcg@3", 0.1, max_drop=0.01)'])
    stored.run().assert_outcomes(passed=1)
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "Under the judgments that were stored with the baseline, ndcg@3 fell by 0.1956",
            "  from the baseline to 0.6546; at most 0.0100 is allowed.",
            "  From 0.8502 when it was stored to 0.8502 today: −0.1956 is the retriever's",
            "  doing, +0.1956 that of changed judgments. Only the retriever's part is gated.",
            "  By today's judgments, which the table goes by, the retriever moved it from",
            "  0.6714 to 0.8502. But changed judgments alone turn no failure into a pass: if",
            "  the change is right, accept today's run; if not, take it back.",
            "Mostly documents ranked lower: *",
            "golden/faq.yaml:5: refund [[]judged as it was stored]",
            "  ndcg@3 1.0000 → 0.4131",
            "  doc-9 (grade 3) fell from rank 1 to 3, below doc-5 (unjudged), doc-6",
            "To accept it: *--ir-baseline-update",
        ]
    )
    close = stored.run("--ir-baseline", "--ir-query", "refund", "--ir-report=json:report.json")
    close.stdout.fnmatch_lines(
        ["*ndcg@3 0.4636 → 1.0000*", "    Judged as it was stored: mrr 1.0000 → 0.3333; *"]
    )
    (test,) = json.loads((stored.path / "report.json").read_text(encoding="utf-8"))["tests"]
    (query,) = test["queries"]
    assert query["scores"]["ndcg@3"] == 1.0
    assert query["as_stored"]["judgments"] == {"doc-9": 3, "doc-4": 1, "doc-7": 0}
    stored.run("--ir-baseline-update").assert_outcomes(passed=1)
    stored.run("--ir-baseline").assert_outcomes(passed=1)


def test_labels_hide_no_lost_query(stored):
    stored.answers({**ANSWERS, "opening hours": ["doc-2"]})
    relabel(stored, "relevant: doc-1\n", "relevant: [doc-2]\n")
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("recall@10", 0.1, max_lost=0, max_drop="off")'])
    result = stored.run("--ir-baseline", "-o", "ir_max_drop=off")
    result.assert_outcomes(failed=1)
    assert (
        "Under the judgments that were stored with the baseline, 1 query of 3 lost every point of recall@10"
        in told(result)
    )
    assert "By today's judgments, which the table goes by, none did. But changed judgments" in told(result)


def test_labels_that_are_put_right_beside_an_unchanged_retriever_fail_nothing(stored):
    relabel(stored, "relevant: {doc-9: 3, doc-4: 1, doc-7: 0}", "relevant: {doc-5: 2}")
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("ndcg@3", max_drop=0)'])
    stored.run("--ir-baseline").assert_outcomes(passed=1)


def test_a_lower_relevance_level_is_a_change_of_labels(stored):
    """What was too little to count as relevant counts now, and hides that the best document is gone."""
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'])
    golden = (stored.path / "golden/faq.yaml").read_text(encoding="utf-8")
    stored.write(
        "golden/faq.yaml",
        "relevance_level: 2\n"
        + golden.replace("[doc-12, doc-40]", "{doc-12: 2}").replace(
            "relevant: doc-1\n", "relevant: {doc-1: 2}\n"
        ),
    )
    stored.run("--ir-baseline-update").assert_outcomes(passed=1)
    stored.answers({**ANSWERS, "refund policy": ["doc-4", "doc-9"]})
    stored.run("--ir-baseline").assert_outcomes(failed=1)
    relabel(stored, "relevance_level: 2", "relevance_level: 1")
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    text = told(result)
    assert "Under the relevance level that was stored with the baseline, mrr fell by 0.1667" in text
    assert "But a changed relevance level alone turns no failure into a pass" in text
    assert "note: The relevance level changed since the baseline was stored" in text
    assert "Changed: relevance level 2 → 1." in text


@pytest.mark.parametrize(("level", "outcome"), [("0.9", {"failed": 1}), ("0.2", {"passed": 1})])
def test_significance_narrows_by_the_fall_that_labels_hide(stored, level, outcome):
    worse(stored)
    relabel(stored, "relevant: {doc-9: 3, doc-4: 1, doc-7: 0}", JUDGED_RELEVANT)
    stored.test(
        ['ir_golden("golden/*.yaml")', f'ir_threshold("ndcg@3", max_drop=0.01, significance={level})']
    )
    stored.run("--ir-baseline").assert_outcomes(**outcome)


LOST = {**ANSWERS, "refund policy": ["doc-5"]}
"""The query tagged billing finds nothing any more."""


@pytest.mark.parametrize(
    ("marks", "old", "new", "says"),
    [
        (
            ['ir_threshold("mrr", max_drop=0.1)'],
            "query: refund policy\n",
            "query: refund policy\n    weight: 0.001\n",
            [
                "Under the weights that were stored with the baseline, mrr fell by 0.3333",
                "−0.3333 is the retriever's doing, +0.2496 that of changed weights",
                "note: The weight of 1 query changed since the baseline was stored",
                "Changed: golden/faq.yaml:5 refund: weight 1 → 0.001.",
            ],
        ),
        (
            ['ir_threshold("mrr", max_drop=0.1)'],
            "relevant: {doc-9: 3, doc-4: 1, doc-7: 0}",
            "no_answer: true",
            [
                "Under the judgments that were stored with the baseline, mrr fell by 0.3333",
                "By today's judgments, which the table goes by, the retriever moved nothing. But changed",
                "doc-9 3 → removed",
            ],
        ),
        (
            ['ir_threshold("mrr", max_drop=0.1, tag="billing")', 'ir_threshold("mrr", max_drop=1)'],
            "relevant: doc-1\n",
            "relevant: doc-1\n    tags: [billing]\n",
            [],
        ),
        (
            ['ir_threshold("mrr", max_drop=0.1, tag="billing")', 'ir_threshold("mrr", max_drop=1)'],
            "tags: [billing]\n  - id: hours\n",
            "tags: [other]\n  - id: hours\n    tags: [billing]\n",
            [
                "Under the tags that were stored with the baseline, mrr of the queries tagged billing fell by 1.0000",
                "note: The slice billing has other queries than when the baseline was stored: refund is not tagged so any more,",
                "and hours is tagged so now. It is gated as it is, and as it was.",
            ],
        ),
        (
            ['ir_threshold("mrr", max_drop=1)'],
            "relevant: {doc-9: 3, doc-4: 1, doc-7: 0}\n    thresholds: {mrr: {max_drop: 0.1}}",
            "relevant: {doc-9: 3, doc-5: 1}\n    thresholds: {mrr: {max_drop: 0.1}}",
            [
                "Under the judgments that were stored with the baseline, mrr of the query refund fell by 1.0000",
                "But changed judgments alone turn no failure into a pass",
            ],
        ),
    ],
    ids=["weight", "no_answer", "tag-added", "tags", "own"],
)
def test_no_edit_of_the_golden_set_turns_a_failure_into_a_pass(stored, marks, old, new, says):
    stored.test(['ir_golden("golden/*.yaml")', *marks])
    if "thresholds" in old:
        relabel(stored, old.split("\n")[0], old)
    stored.run("--ir-baseline-update").assert_outcomes(passed=1)
    stored.answers({**LOST, "refund policy": []} if "no_answer" in new else LOST)
    stored.run("--ir-baseline").assert_outcomes(failed=1)
    relabel(stored, old, new)
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    text = told(result)
    assert [part for part in says if part not in text] == []
    stored.run("--ir-baseline-update").assert_outcomes(passed=1)
    stored.run("--ir-baseline").assert_outcomes(passed=1)


def test_tags_weights_and_a_no_answer_that_are_edited_beside_an_unchanged_retriever_fail_nothing(stored):
    relabel(stored, "relevant: doc-1\n", "no_answer: true\n    tags: [billing]\n    weight: 5\n")
    stored.test(
        [
            'ir_golden("golden/*.yaml")',
            'ir_threshold("mrr", max_drop=0, tag="billing")',
            'ir_threshold("no_answer", min=0)',
        ]
    )
    stored.run("--ir-baseline").assert_outcomes(passed=1)


def test_a_slice_whose_queries_were_all_reworded_is_not_passed_unseen(stored):
    stored.test(
        [
            'ir_golden("golden/*.yaml")',
            'ir_threshold("mrr", max_drop=0.1, tag="billing")',
            'ir_threshold("mrr", max_drop=1)',
        ]
    )
    relabel(stored, "query: refund policy\n", "query: refunds\n")
    stored.answers({**ANSWERS, "refunds": ["doc-5"]})
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert (
        "mrr of the queries tagged billing: only 0% of those that the baseline has (by weight) are still asked"
        in told(result)
    )


def test_a_query_that_got_worse_and_is_marked_xfail_is_named(stored):
    stored.answers(LOST)
    relabel(stored, "query: refund policy\n", "query: refund policy\n    xfail: TICKET-7\n")
    result = stored.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    assert (
        "note: The query refund is marked xfail (TICKET-7), so no gate sees that its mrr fell from 1.0000 to 0.0000 since "
        "the baseline." in told(result)
    )


def test_a_renamed_query_is_named_with_both_ids(stored):
    relabel(stored, "id: refund", "id: refunds")
    result = stored.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    text = told(result)
    assert (
        "note: 1 query has the words of the baseline and another id: refund → refunds. Queries pair by id"
        in text
    )
    assert "new since" not in text
    assert "not in the golden set any more" not in text


def test_a_metric_that_leaves_out_what_finds_nothing_hides_no_lost_query(stored):
    stored.answers(LOST)
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr(miss=skip)", max_drop=0.2)'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    assert (
        "note: mrr(miss=skip) leaves out what finds nothing, and 1 query that it counted before is not in today's mean: "
        "refund. max_lost gates that." in told(result)
    )
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr(miss=skip)", max_drop=0.2, max_lost=0)'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert "1 query of 3 lost every point of mrr(miss=skip) against the baseline" in told(result)


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
    text = told(result)
    # 1, 1, 1, 1/2 against 1, 1/2, 1, 1/2: variances of 1/16 and 1/12, each over 4 repeats and 3 queries squared
    assert "From run to run the differences vary by (standard deviation): mrr 0.0636." in text
    assert (
        "note: mrr moved by −0.0417 from the baseline; at most 0.0100 is allowed, and this much more is"
        in text
    )
    assert (
        "note: max_drop 0.0100 of mrr is less than what differs from run to run: a fall fails from 0.1147 on."
        in text
    )
    project.write("conftest.py", NOISY.format(places=[4, 4, 4, 4]))
    project.run("--ir-repeat=4", "--ir-baseline").assert_outcomes(failed=1)


def test_a_mean_over_deeper_rankings_than_the_baselines_is_said_to_be_that(stored):
    stored.test(['ir_golden("golden/*.yaml", depth=20)', 'ir_threshold("recall@20", 0.5)'])
    stored.answers(ANSWERS | {"opening hours": [*(f"doc-{n}" for n in range(100, 112)), "doc-1"]})
    result = stored.run("--ir-baseline", "-v")
    assert "recall@20 over today's results as deep as they are, not cut at 10: 1.0000" in told(result)
    assert "The depths differ, 20 today and 10 in the baseline; both are cut at 10." in told(result)
    assert "counterpart" not in told(result)


def test_ids_of_another_kind_are_not_to_be_judged(stored):
    stored.answers({query: [f"kb:{doc_id}" for doc_id in ids] for query, ids in ANSWERS.items()})
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    assert "this is about ids, not about quality" in told(result)
    assert "pytest-irmetrics label" not in told(result)


def test_new_removed_and_reworded_queries_are_named(stored):
    golden = stored.path / "golden/faq.yaml"
    text = golden.read_text().replace("how do I reset my password", "password reset")
    text = text[: text.index("  - id: hours")] + "  - {id: fresh, query: brand new, relevant: [doc-1]}\n"
    golden.write_text(text)
    stored.answers({**ANSWERS, "password reset": ["doc-12"], "brand new": ["doc-1"]})
    result = stored.run("--ir-baseline")
    joined = " ".join(" ".join(result.outlines).split())
    assert "Only 33% of the baseline's queries (by weight) are still asked in the same words" in joined
    assert "1 removed, 1 reworded, 1 new" in joined
    result.assert_outcomes(failed=1)


def test_one_query_added_does_not_shift_the_others(stored):
    golden = stored.path / "golden/faq.yaml"
    golden.write_text(
        golden.read_text().replace("queries:\n", "queries:\n  - {query: aaa, relevant: [doc-1]}\n")
    )
    result = stored.run("--ir-baseline", "-v")
    result.assert_outcomes(passed=1)
    joined = " ".join(" ".join(result.outlines).split())
    assert (
        "1 query new since the baseline: aaa. With nothing to compare, only `min` and its kind gate it."
        in joined
    )
    assert "mrr over all of today's queries, also those without a counterpart: 0.6250" in joined
    worse(stored)
    stored.run("--ir-baseline").assert_outcomes(failed=1)


def test_shuffled_queries_change_neither_bytes_nor_verdict(stored):
    first = stored.baseline.read_bytes()
    golden = stored.path / "golden/faq.yaml"
    head, *queries = golden.read_text().split("  - id: ")
    golden.write_text(head + "".join("  - id: " + query for query in reversed(queries)))
    stored.run("--ir-baseline").assert_outcomes(passed=1)
    stored.run("--ir-baseline-update").assert_outcomes(passed=1)
    assert stored.baseline.read_bytes() == first


@pytest.mark.parametrize("how", ["delete", "drop from the glob"])
def test_a_golden_set_that_is_gone_fails(project, how):
    project.write("golden/other.yaml", "queries: [{query: refund policy, relevant: [doc-9]}]\n")
    project.run("--ir-baseline-update").assert_outcomes(passed=2)
    if how == "delete":
        (project.path / "golden/other.yaml").unlink()
    else:
        project.test(['ir_golden("golden/faq.yaml")', 'ir_threshold("mrr", 0.5)'])
    result = project.run("--ir-baseline")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["The golden set golden/other.yaml *", "FAILED test_search.py::test_search_quality?other?*"]
    )


def test_a_baseline_whose_test_is_gone_is_named(stored):
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'], name="test_renamed")
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    joined = " ".join(" ".join(result.outlines).split())
    assert (
        "the baseline ir_baselines/test_search/test_search_quality[faq].json belongs to no test any more"
        in joined
    )


@pytest.mark.parametrize(
    "options", [["--ir-baseline"], ["--ir-baseline-update", "-q"], ["-p", "no:irmetrics"], []]
)
def test_baselines_are_named_where_every_test_file_is_gone(stored, options):
    """Nothing is left that could fail, nor any item whose report could carry a word about it."""
    (stored.path / "test_search.py").unlink()
    stored.write("test_other.py", "def test_other(): pass\n")
    if not options:
        stored.write("pytest.ini", "[pytest]\nir_baseline = true\n")
    result = stored.run(*options)
    result.assert_outcomes(passed=1)
    told = any("belongs to no test" in line or "any more; delete" in line for line in result.outlines)
    assert told == ("no:irmetrics" not in options)


def test_folders_that_pytest_does_not_enter_are_not_searched(stored):
    (stored.path / "data").mkdir()
    for name in ("ir_baselines", "test_search.py", "golden"):
        (stored.path / name).rename(stored.path / "data" / name)
    (stored.path / "data" / "test_search.py").unlink()
    stored.write("test_other.py", "def test_other(): pass\n")
    assert "belongs to no test" in stored.run("--ir-baseline").stdout.str()
    assert "belongs to no test" not in stored.run("--ir-baseline", "-o", "norecursedirs=dat*").stdout.str()


def test_paths_are_those_of_where_pytest_was_called(stored, monkeypatch):
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'], name="test_renamed")
    (stored.path / "ir_baselines" / "test_gone").mkdir()
    stored.baseline.rename(stored.path / "ir_baselines" / "test_gone" / "test_it.json")
    monkeypatch.chdir(stored.path.parent)
    result = stored.run(stored.path.name, "--rootdir", str(stored.path), "--ir-baseline-update")
    told = " ".join(result.stdout.str().split())
    assert f"baseline {stored.path.name}/ir_baselines/test_search/test_renamed[faq].json: stored" in told
    assert f"note: the baseline {stored.path.name}/ir_baselines/test_gone/test_it.json belongs to no" in told


def test_a_test_that_leaves_for_a_folder_that_it_deletes_is_stored_all_the_same(project):
    body = "import os, tempfile; irmetrics.check(); gone = tempfile.mkdtemp(); os.chdir(gone); os.rmdir(gone)"
    project.test('ir_golden("golden/*.yaml")', body)
    try:
        assert project.run_apart("--ir-baseline-update").ret == 0
    finally:
        os.chdir(project.path)
    assert project.baseline.exists()


def test_a_setting_that_gates_nothing_is_told_where_baselines_are(stored):
    stored.write("pytest.ini", "[pytest]\nir_baseline = true\n")
    stored.write("test_search.py", "def test_other(): pass\n")
    stored.write("elsewhere/test_other.py", "def test_elsewhere(): pass\n")
    stored.run().stdout.fnmatch_lines(
        ["note: the setting ir_baseline is true, and no test of this run used irmetrics."]
    )
    for options in (
        ["elsewhere"],
        ["-k", "other"],
        ["--no-ir-baseline"],
        ["test_search.py::test_other"],
        ["--co"],
    ):
        assert "used irmetrics" not in stored.run(*options).stdout.str(), options


def test_the_last_test_of_a_file_that_has_a_baseline_is_missed(stored):
    stored.write("test_more.py", (stored.path / "test_search.py").read_text())
    stored.write("test_search.py", "def test_other(): pass\n")
    stored.run("--ir-baseline-update").stdout.fnmatch_lines(["note: the baseline ir_baselines/test_search/*"])


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "<<<<<<< ours\n" + text + "=======\n" + text + ">>>>>>> theirs\n",
        lambda text: text.replace('"version": 1', '"version": 99').replace('"version":1', '"version":99'),
        lambda _: "",
        lambda _: "[]",
        lambda text: text.replace('"weight": 1', '"weight": NaN').replace('"weight":1', '"weight":NaN'),
    ],
)
def test_a_damaged_baseline_fails_in_words_and_an_update_replaces_it(stored, damage):
    good = stored.baseline.read_text()
    bad = damage(good)
    assert bad != good
    stored.baseline.write_text(bad)
    conftest = stored.path / "conftest.py"
    asks = conftest.read_text()
    stored.retrieve("pytest.exit('was asked')")
    result = stored.run("--ir-baseline")  # nobody waits for answers to learn that
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ir_baselines/test_search/test_search_quality?faq?.json*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    conftest.write_text(asks)
    stored.run("--ir-baseline-update").assert_outcomes(passed=1)
    assert stored.baseline.read_text() == good


def test_a_deeper_cut_off_than_the_baseline_holds_fails_and_names_the_update(stored):
    stored.write("pytest.ini", "[pytest]\nir_depth = 20\n")
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("recall@20", 0.1)'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["recall@20 needs 20 results a query, and the baseline holds 10.", "*--ir-baseline-update*"]
    )


def test_against_takes_a_retriever_a_run_or_a_path(stored):
    worse(stored)
    for other in (
        'lambda query, k: {"refund policy": ["doc-9"]}.get(query, [])',
        '__import__("pytest_irmetrics").Run({"refund": ["doc-9"], "reset": ["doc-12"], "hours": ["doc-1"]})',
        '"ir_baselines/test_search/test_search_quality[faq].json"',
    ):
        stored.test(
            ['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'],
            f"irmetrics.check(against={other})",
        )
        result = stored.run()
        result.assert_outcomes(failed=1 if "lambda" not in other else 0, passed=1 if "lambda" in other else 0)


@pytest.mark.parametrize("test", ["def", "async def"])
def test_where_the_retriever_fails_the_one_that_it_is_compared_with_is_not_asked(project, test):
    project.retrieve("1 / 0")
    check = "irmetrics.check(against=lambda query: pytest.exit('was asked'))"
    project.test('ir_golden("golden/*.yaml")', check)
    if test == "async def":
        project.make_async()
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*raised ZeroDivisionError*"])


def test_a_run_that_is_not_there_is_named_as_a_reader_finds_it_before_anyone_is_asked(stored):
    stored.retrieve("pytest.exit('was asked')")
    stored.test('ir_golden("golden/*.yaml")', 'irmetrics.check(against="runs/none.json")')
    stored.run().stdout.fnmatch_lines(["runs/none.json: cannot be read: *"])


@pytest.mark.parametrize("given", ["3", "OLD"])
def test_what_cannot_be_compared_with_is_told_before_anyone_is_asked(stored, given):
    stored.retrieve("pytest.exit('was asked')")
    stored.test('ir_golden("golden/*.yaml")', f"irmetrics.check(against={given})")
    tests = stored.path / "test_search.py"
    old = "OLD = pytest_irmetrics.evaluate(pytest_irmetrics.GoldenSet.load('golden/faq.yaml'), lambda query: 1 / 0)"
    tests.write_text(f"import pytest_irmetrics\n{old}\n{tests.read_text()}")
    result = stored.run()
    result.assert_outcomes(failed=1)
    assert "`against`" in told(result)


def test_an_evaluation_to_compare_with_is_read_as_deep_as_it_is(stored):
    old = 'evaluate(irmetrics.golden, lambda query, k: ["doc-x", "doc-12"][:k], metrics=["mrr"], depth=1)'
    stored.test(
        ['ir_golden("golden/*.yaml")', 'ir_threshold("recall@2", max_drop=0.01)'],
        f"from pytest_irmetrics import evaluate; irmetrics.check(against={old})",
    )
    result = stored.run()
    result.assert_outcomes(failed=1)
    assert "recall@2 needs 2 results a query, and the other retriever holds 1." in told(result)
    assert "The depths differ, 10 today and 1 in the other retriever; both are cut at 1." in told(result)


def test_a_golden_set_without_the_query_asked_for_needs_no_baseline(stored):
    stored.write("golden/other.yaml", "queries:\n  - {query: parking, relevant: doc-5}\n")
    result = stored.run("--ir-baseline", "--ir-query", "refund")
    result.assert_outcomes(passed=1, skipped=1)


def test_only_the_query_asked_for_is_shown_and_nothing_is_stored(stored):
    before = stored.baseline.read_bytes()
    worse(stored)
    result = stored.run("--ir-baseline-update", "--ir-query", "refund")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*Only single queries were judged*", "*rank*was*grade*document", "*3*1*3*doc-9", "*-*2*1*doc-4"]
    )
    assert "hours" not in result.stdout.str()
    quiet = stored.run("--ir-baseline", "--ir-query", "refund", "-q")
    quiet.stdout.fnmatch_lines(
        [
            "retrieval quality: 1 golden set, all pass",
            "  Only single queries were judged*",
            "*rank*was*grade*document",
            "*-*2*1*doc-4",
        ]
    )
    assert stored.baseline.read_bytes() == before
    stored.answers(ANSWERS | {"refund policy": ["doc-76", "doc-77"]})
    result = stored.run("--ir-baseline", "--ir-query", "refund", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*: passes, 1 query; mrr 0.0000 (*1.0000)", "*metric * n *", "*mrr * 1 *0.0000 *1.0000 *1.0000 *"]
    )
    result.stdout.no_fnmatch_line("*counterpart*")
    result = stored.run("--ir-query", "refnud")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*refnud*refund*"])


def test_of_several_queries_asked_for_one_that_is_misspelt_is_named(stored):
    result = stored.run("--ir-query", "refund", "--ir-query", "huors")
    result.assert_outcomes(passed=1)
    assert (
        "note: --ir-query: no golden set of this test has the query 'huors'. Did you mean 'hours'?"
        in told(result)
    )
    stored.write("golden/other.yaml", "queries:\n  - {id: huors, query: parking, relevant: doc-5}\n")
    result = stored.run("--ir-query", "refund", "--ir-query", "huors")
    result.assert_outcomes(passed=2)
    assert "no golden set" not in told(result)
    stored.write("golden/other.yaml", "queries: [")
    result = stored.run("--ir-query", "refund", "--ir-query", "huors")
    result.assert_outcomes(passed=1, failed=1)
    assert "no golden set" not in told(result)  # nobody knows


def test_the_query_asked_for_is_compared_with_itself_alone(stored):
    worse(stored)
    result = stored.run("--ir-baseline", "--ir-query", "hours", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["golden/faq.yaml: passes, 1 query; mrr 0.5000", "  mrr *1  0.5000 *0.5000*0.0000*"]
    )
    result.stdout.no_fnmatch_line("*max_drop 0.01*on*quer*")
    result = stored.run("--ir-baseline", "--ir-query", "refund")
    result.stdout.fnmatch_lines(["golden/faq.yaml: passes, 1 query; mrr 0.3333 (−0.6667)"])


@pytest.mark.parametrize("mark", ['@pytest.mark.xfail(reason="known")', "@pytest.mark.xfail(strict=False)"])
def test_an_xfailed_test_stores_nothing(project, mark):
    path = project.path / "test_search.py"
    path.write_text(path.read_text().replace("@pytest.mark.ir_golden", f"{mark}\n@pytest.mark.ir_golden", 1))
    project.run("--ir-baseline-update")
    assert not project.baseline.exists()


def test_a_test_that_fails_in_its_teardown_stores_nothing(project):
    path = project.path / "test_search.py"
    path.write_text(
        path.read_text().replace("(irmetrics)", "(irmetrics, bad)")
        + "\n\n@pytest.fixture\ndef bad():\n    yield\n    raise RuntimeError('late')\n"
    )
    project.run("--ir-baseline-update").assert_outcomes(passed=1, errors=1)
    assert not project.baseline.exists()


def test_a_test_that_fails_stores_nothing(stored):
    before = stored.baseline.read_bytes()
    stored.answers({})
    stored.run("--ir-baseline-update").assert_outcomes(failed=1)
    assert stored.baseline.read_bytes() == before


def test_collecting_says_nothing_of_what_did_not_run(stored):
    assert "used irmetrics" not in stored.run("--co", "--ir-baseline").stdout.str()
    (stored.path / "test_search.py").unlink()
    assert "belongs to no test" not in stored.run("--co", "-q", "--ir-baseline").stdout.str()


def test_an_option_that_no_test_obeys_is_named(pytester):
    pytester.makepyfile("def test_a(): pass")
    result = pytester.runpytest_subprocess("--ir-baseline")
    result.stdout.fnmatch_lines(["note: --ir-baseline was given, and no test of this run used irmetrics."])


def test_a_broken_baseline_is_replaced_by_a_pass_alone_and_that_is_what_is_said(stored):
    stored.baseline.write_text("{")
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    result = stored.run("--ir-baseline-update")
    result.assert_outcomes(failed=1)
    assert "Nothing was compared with the baseline that is there, and only a pass replaces it." in told(
        result
    )
    assert stored.baseline.read_text() == "{"
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'])
    stored.run("--ir-baseline-update").assert_outcomes(passed=1)
    assert stored.baseline.read_text() != "{"


@pytest.mark.parametrize("how", ["--ir-baseline", "--ir-baseline-update", "the setting"])
def test_a_run_that_was_interrupted_says_nothing_of_tests_that_it_did_not_come_to(stored, how):
    conftest = stored.path / "conftest.py"
    interrupt = "def interrupt():\n    raise KeyboardInterrupt\n"
    conftest.write_text(interrupt + conftest.read_text().replace("answers.get(query, [])[:k]", "interrupt()"))
    if how == "the setting":
        stored.write("pytest.ini", "[pytest]\nir_baseline = true\n")
    result = stored.run_apart(*([how] if how != "the setting" else []))
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "used irmetrics" not in result.stdout.str()


def test_a_deeper_run_is_shown_as_deep_as_the_baseline(stored):
    """Nobody knows what stood below: what is found there is no news."""
    stored.answers({**ANSWERS, "refund policy": ["doc-5", "doc-9", *(f"x{n}" for n in range(8)), "doc-4"]})
    stored.test(['ir_golden("golden/*.yaml", depth=20)', 'ir_threshold("recall", max_drop=0.01)'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    text = told(result)
    assert "doc-4 (grade 1) is no longer among the 10 results (it was at rank 2)" in text
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
    project.run("--ir-repeat=2", "--ir-baseline-update").assert_outcomes(passed=1)
    project.write("conftest.py", TURNS.format(answers=["doc-9 x", "x bad"]))
    result = project.run("--ir-repeat=2", "--ir-baseline")
    result.assert_outcomes(failed=1)
    text = told(result)
    assert "now 1 x 2 bad(forbidden) bad is forbidden and stands at rank 2" in text
    assert "note: Today's scores are averages over 2 answers a query, the baseline's averages over 2" in text


def test_a_drop_that_is_not_significant_passes_and_is_said(stored):
    worse(stored)
    stored.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01, significance=0.05)'])
    result = stored.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    assert (
        "note: mrr fell by 0.2222 from the baseline to 0.6111; at most 0.0100 is allowed. p = 0.50 is not below the "
        "significance 0.05." in told(result)
    )


def test_slices_are_told_where_nothing_is_gated(stored):
    stored.test('ir_golden("golden/*.yaml")')
    result = stored.run("--ir-baseline", "-o", "ir_max_drop=off", "-v")
    result.assert_outcomes(passed=1)
    assert "mrr by tag n now baseline delta 95 % interval" in told(result)


def test_against_takes_an_evaluation_and_is_called_other_in_tables(stored):
    stored.test(
        ['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop=0.01)'],
        'irmetrics.check(retriever=lambda query, k: ["doc-4"], against=irmetrics.evaluate())',
    )
    result = stored.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "mrr fell by 0.5000 from the other retriever to 0.3333; at most 0.0100 is",
            "  other     1 doc-12(1) 2 doc-3 3 doc-40(1)",
            "  now       1 doc-4",
            "  metric*now *other *delta*",
            "  mrr by tag*now *other *delta*",
        ]
    )


def test_unjudged_results_are_no_news_where_nothing_fell(stored):
    stored.answers({**ANSWERS, "opening hours": ["doc-1", *(f"x{n}" for n in range(9))]})
    result = stored.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    assert "were never judged" not in told(result)


@pytest.mark.parametrize(
    ("marks", "run", "told_with"),
    [
        (
            'ir_threshold("recall@5", max_drop=0.01)',
            'Run.of(Run({"reset": ["doc-12"], "refund": ["doc-9"], "hours": ["doc-1"]}).answers, depth=3)',
            "recall@5 needs 5 results a query, and the other run holds 3. Give a deeper one.",
        ),
        (
            'ir_threshold("mrr", max_drop=0.01)',
            'Run({"b": ["doc-9"], "c": ["doc-1"]})',
            "Only 0% of the other run's queries (by weight) are still asked in the same words: 2 removed, 0 reworded, 3 new.",
        ),
    ],
    ids=["depth", "pairing"],
)
def test_another_run_is_not_called_a_baseline_to_be_stored(project, marks, run, told_with):
    project.test(
        ['ir_golden("golden/*.yaml")', marks],
        f"from pytest_irmetrics import Run; irmetrics.check(against={run})",
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    text = told(result)
    assert told_with in text
    assert "--ir-baseline-update" not in text
