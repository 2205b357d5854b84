"""Verdicts that could pass unseen, and numbers and sentences that could contradict a verdict."""

from __future__ import annotations

import json

import pytest

TWO = """
    queries:
      - {query: one, relevant: a, tags: [billing]}
      - {query: two, relevant: b}
      - {query: none, no_answer: true}
"""
GOOD = {"one": ["a"], "two": ["b"]}


def store(project, golden, marks, answers, *args):
    project.write("golden/faq.yaml", golden)
    project.test(marks)
    project.answers(answers)
    project.run("--ir-baseline-update", *args).assert_outcomes(passed=1)


@pytest.mark.parametrize("setting", ["mark", "reported"])
def test_a_metric_that_leaves_out_what_finds_nothing_fails_where_nothing_finds_anything(project, setting):
    mark = ['ir_threshold("mrr(miss=skip)", max_drop=0.01)'] if setting == "mark" else []
    options = ["-o", "ir_metrics=mrr(miss=skip)"] if setting == "reported" else []
    store(project, TWO, ['ir_golden("golden/*.yaml")', *mark], GOOD, *options)
    project.answers({})
    result = project.run("--ir-baseline", *options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "A gate over no query: mrr(miss=skip) leaves out today whatever it counted in the",
            "The 2 queries that explain it:",
            "To look closer: *--ir-query one",
        ]
    )
    assert "To accept it" not in result.stdout.str()  # there would be nothing to gate tomorrow either


def test_max_lost_counts_what_a_metric_leaves_out_altogether(project):
    marks = ['ir_golden("golden/*.yaml")', 'ir_threshold("mrr(miss=skip)", max_lost={}, max_drop="off")']
    store(project, TWO, [marks[0], marks[1].format(1)], GOOD)
    project.answers({})
    result = project.run("--ir-baseline")
    result.stdout.fnmatch_lines(["2 of 2 queries fell to 0 by mrr(miss=skip); at most 1 may."])
    project.test([marks[0], marks[1].format(2)])
    project.run("--ir-baseline").assert_outcomes(passed=1)


@pytest.mark.parametrize("tag", ["", ', tag="billing"'])
@pytest.mark.parametrize("word", ["max_drop=0.01", "max_lost=0"])
def test_a_regression_gate_over_xfail_queries_alone_is_a_gate_over_no_query(project, word, tag):
    golden = "queries:\n- {query: one, relevant: a, tags: [billing], xfail: T-1}\n"
    golden += "- {query: two, relevant: b}\n" if tag else ""
    store(project, golden, ['ir_golden("golden/*.yaml")', f'ir_threshold("mrr", {word}{tag})'], GOOD)
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["A gate over no query: mrr has no query*"])


def test_the_drop_that_is_gated_by_default_says_rightly_that_a_set_has_nothing_for_it(project):
    golden = "queries:\n- {query: none, no_answer: true}\n"
    store(project, golden, 'ir_golden("golden/*.yaml")', GOOD, "-o", "ir_metrics=mrr")
    result = project.run("--ir-baseline", "-o", "ir_metrics=mrr")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  mrr: max_drop is not checked, because mrr has no query to average over*"])


def test_one_query_without_a_slices_min_each_is_no_gate_over_no_query(project):
    project.write("golden/faq.yaml", TWO)
    project.answers({**GOOD, "one": ["x", "a"]})
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", min_each=0.8, tag="billing")'])
    project.run("--ir-query=two").assert_outcomes(passed=1)
    project.run("--ir-query=none").assert_outcomes(passed=1)
    project.run("--ir-query=one").assert_outcomes(failed=1)


def test_a_querys_own_max_drop_needs_a_baseline_as_deep_as_its_cut_off(project):
    golden = "queries:\n- {{query: one, relevant: a, {}}}\n- {{query: two, relevant: b}}\n"
    options = ["-o", "ir_metrics=mrr"]
    marks = 'ir_golden("golden/*.yaml")'
    store(project, golden.format("note: x"), marks, GOOD, *options, "-o", "ir_depth=5")
    project.write("golden/faq.yaml", golden.format("thresholds: {ndcg@10: {max_drop: 0}}"))
    result = project.run("--ir-baseline", *options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "ndcg@10 of the query one needs 10 results a query, and the baseline holds 5.",
            "  Store a deeper one.",
            "To accept it:   pytest 'test_search.py::test_search_quality?faq?' --ir-baseline-update*",
        ]
    )


def test_a_percentage_of_a_score_below_zero_is_one_of_its_size(project):
    project.write(
        "conftest.py",
        (project.path / "conftest.py").read_text()
        + "\ndef pytest_irmetrics_metrics(config):\n"
        + "    return {'cost': lambda query, ranking, k: -2.0 * len(ranking)}\n",
    )
    golden = "queries:\n- {query: one, relevant: a, thresholds: {cost: {max_drop: 60%}}}\n"
    store(project, golden, 'ir_golden("golden/*.yaml")', {"one": ["a", "x"]})
    project.run("--ir-baseline").assert_outcomes(passed=1)
    project.answers({"one": ["a", "x", "y"]})  # −6 after −4: half of 4 further down
    project.run("--ir-baseline").assert_outcomes(passed=1)
    project.answers({"one": ["a", "x", "y", "z"]})
    result = project.run("--ir-baseline")
    result.stdout.fnmatch_lines(
        ["cost of the query one fell by 4.0000 to −8.0000; at most 2.4000 is allowed."]
    )


def weighted(lost):
    return f"""
        queries:
          - {{query: one, relevant: a, weight: {1 - lost}}}
          - {{query: two, relevant: b, weight: {lost}}}
    """


def test_no_table_shows_a_mean_that_fails_like_the_limit_that_it_misses(project):
    project.write("golden/faq.yaml", weighted(0.20004))
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.8)'])
    project.answers({"one": ["a"], "two": ["x"]})
    result = project.run("-v", "--ir-report=r.md", "--ir-report=r.html")
    result.stdout.fnmatch_lines(
        [
            "golden/faq.yaml: FAILS, 2 queries; mrr 0.79996",
            "  mrr           2  0.79996  ≥0.8  FAILS",
        ]
    )
    assert "| `mrr` | 2 | 0.79996 | ≥0.8 | **FAILS** |" in (project.path / "r.md").read_text()
    page = (project.path / "r.html").read_text()
    assert ">0.79996<" in page
    assert ">0.8000<" in page  # of what is not gated


def test_no_table_shows_a_drop_that_fails_like_the_limit_that_it_exceeds(project):
    marks = ['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max_drop={})']
    store(project, weighted(0.010004), [marks[0], marks[1].format('"1%"')], GOOD)
    project.answers({"one": ["a"], "two": ["x"]})
    result = project.run("-v", "--ir-baseline", "--ir-report=r.md")
    result.stdout.fnmatch_lines(
        [
            "golden/faq.yaml: FAILS, 2 queries; mrr 0.9900 (−0.010004)",
            "  mrr           2  0.9900    1.0000  −0.010004  drop≤1%  FAILS",
        ]
    )
    assert "| −0.010004 | drop≤1% | **FAILS** |" in (project.path / "r.md").read_text()
    project.test([marks[0], marks[1].format(0.02)])
    result = project.run("-v", "--ir-baseline", "-v")
    result.stdout.fnmatch_lines(["  mrr           2  0.9900    1.0000  −0.0100  drop≤0.02  passes"])


def test_a_score_that_averages_to_the_same_did_not_move(project):
    golden = "queries:\n- {query: one, relevant: [a, b, c]}\n"
    answer = {"one": ["x", "y", "a", "z", "w", "b", "v"]}
    store(project, golden, 'ir_golden("golden/*.yaml")', answer)
    result = project.run("--ir-baseline", "--ir-repeat=3", "-vv")
    result.assert_outcomes(passed=1)
    assert "→" not in result.stdout.str()


MANY = "queries:\n" + "".join(
    f"- {{query: q{n}, relevant: [a{n}, b{n}], tags: [{'odd' if n % 2 else 'even'}]}}\n" for n in range(24)
)
ALL = {f"q{n}": [f"a{n}", f"b{n}"] for n in range(24)}


def test_what_was_lost_is_said_of_the_slice_that_lost_it(project):
    marks = ['ir_golden("golden/*.yaml")', 'ir_threshold("recall@10", max_drop=0.01)']
    marks.append('ir_threshold("recall@10", max_drop=0.01, tag="odd")')
    store(project, MANY, marks, ALL)
    project.answers({**ALL, **{f"q{n}": ["x"] for n in (1, 2, 3, 5, 7)}})
    result = project.run("--ir-baseline")
    result.stdout.fnmatch_lines(
        ["The 3 of 5 queries that matter most (75% of what recall@10 [[]odd[]] lost):"]
    )


def test_what_is_left_out_is_no_part_of_100_per_cent(project):
    golden = MANY.replace("q7, ", "q7, weight: 0.001, ")
    marks = ['ir_golden("golden/*.yaml")', 'ir_threshold("recall@10", max_drop=0.01)']
    store(project, golden, marks, ALL)
    project.answers({**ALL, **{f"q{n}": ["x"] for n in (1, 2, 4, 7)}})
    result = project.run("--ir-baseline")
    result.stdout.fnmatch_lines(["The 3 of 4 queries that matter most (over 99% of what recall@10 lost):"])


def test_less_than_half_does_not_read_as_half(project):
    golden = "queries:\n" + "".join(f"- {{id: q{n}, query: {{}}{n}, relevant: d}}\n" for n in range(201))
    texts = {f"{word}{n}": ["d"] for n in range(201) for word in ("old", "new")}
    store(project, golden.replace("{}", "old"), 'ir_golden("golden/*.yaml")', texts)
    edited = golden.replace("{}", "new", 101).replace("{}", "old")
    project.write("golden/faq.yaml", edited)
    result = project.run("--ir-baseline")
    result.stdout.fnmatch_lines(
        ["Only 49% of the baseline's queries (by weight) are still asked in the same*"]
    )


def test_an_xfail_hides_no_fall_of_a_gated_metric_unsaid(project):
    golden = "queries:\n- {{query: one, relevant: [a, b]{}}}\n- {{query: two, relevant: b}}\n"
    marks = ['ir_golden("golden/*.yaml")', 'ir_threshold("recall@10", max_drop=0.01)']
    store(project, golden.format(""), marks, {**GOOD, "one": ["a", "b"]})
    project.write("golden/faq.yaml", golden.format(", xfail: T-1"))
    project.answers({**GOOD, "one": ["a"]})  # mrr, the first metric that is reported, is what it was
    result = project.run("--ir-baseline")
    result.stdout.fnmatch_lines(
        [
            "  note: The query one is marked xfail (T-1), so no gate sees that its recall@10",
            "    fell from 1.0000 to 0.5000 since the baseline.",
        ]
    )


def test_a_drop_that_differs_from_run_to_run_is_not_called_exact(project, monkeypatch):
    project.write(
        "conftest.py",
        """
        import itertools, os, pytest

        @pytest.fixture(scope="session")
        def retriever():
            turn = itertools.count()
            worse = ["y", "z"] if os.environ.get("WORSE") else []
            return lambda query, k: [*worse, *["x"] * (next(turn) % 3), query]
        """,
    )
    golden = "queries:\n" + "".join(f"- {{query: q{n}, relevant: q{n}}}\n" for n in range(7))
    marks = ['ir_golden("golden/*.yaml", duplicates="collapse")', 'ir_threshold("mrr", max_drop=0.01)']
    store(project, golden, marks, {}, "--ir-repeat=2")
    monkeypatch.setenv("WORSE", "1")
    result = project.run("-v", "--ir-baseline", "--ir-repeat=2")
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert "With 2 answers a query on each side the difference varies by" in text
    assert "Exact for these two runs" not in text
    assert "  The mean over other queries drawn like these likely fell too (" in text
    # A baseline of one answer a query would know nothing of how they differ.
    assert "--ir-baseline-update --ir-repeat=2" in text
    assert "--ir-baseline --ir-repeat=2 --ir-query" in text


def test_the_command_that_mends_a_missing_baseline_is_in_the_reports_of_workers_too(project):
    result = project.run_apart("-n", "1", "--ir-baseline", "--ir-report=r.json")
    result.assert_outcomes(failed=1)
    (test,) = json.loads((project.path / "r.json").read_text())["unmeasured"]
    assert test["text"].startswith("There is no baseline for this test: ")
    assert test["text"].rstrip().endswith("--ir-baseline-update")


def test_the_page_says_how_many_queries_it_does_not_name(project):
    store(project, MANY, ['ir_golden("golden/*.yaml")', 'ir_threshold("recall@10", max_drop=0.01)'], ALL)
    project.answers({})
    project.run("-v", "--ir-baseline", "--ir-report=r.html", "--ir-report=r.json")
    page = (project.path / "r.html").read_text()
    assert "</a> and 21 more.</span>" in page
    (test,) = json.loads((project.path / "r.json").read_text())["tests"]
    assert [(len(gate["queries"]), gate["more"]) for gate in test["gates"] if gate["state"] == "failed"] == [
        (20, 4)
    ]
