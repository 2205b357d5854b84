"""What a threshold does to a test, wherever it is set."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import printed


def test_a_score_above_its_threshold_passes_in_one_line(project):
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["golden/faq.yaml: passes, 3 queries; mrr 0.8333"])
    result.stdout.fnmatch_lines(["=* retrieval quality =*", "golden/*"], consecutive=True)


def test_a_score_below_its_threshold_fails_and_says_by_how_much(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    result = project.run("-v")
    result.assert_outcomes(failed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "mrr is 0.8333, 0.0667 below the threshold: at least 0.9000 is required.",
            "golden/faq.yaml:9: hours",
            "  query     opening hours",
            "  now       1 doc-2 2 doc-1(1)",
            "To look closer: pytest 'test_search.py::test_search_quality?faq?' --ir-query hours",
        ]
    )


def test_a_tie_with_the_threshold_passes_whatever_floating_point_says(project):
    project.answers({text: [*("x" * n for n in range(1, 5)), "doc-12", "doc-9", "doc-1"] for text in ()})
    project.write(
        "golden/faq.yaml",
        """
        queries:
          - {query: a, relevant: [d1], weight: 0.1}
          - {query: b, relevant: [d1], weight: 0.7}
          - {query: c, relevant: [d1], weight: 0.2}
        """,
    )
    project.answers({"a": ["d1"], "b": ["d1"], "c": []})
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.8)'])
    project.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("mark", "sentence"),
    [
        (
            'ir_threshold("mrr", max=0.8)',
            "mrr is 0.8333, 0.0333 above the threshold: at most 0.8000 is allowed.",
        ),
        (
            'ir_threshold("mrr", min_each=0.6)',
            "mrr is below 0.6000 for 1 of 3 queries; the lowest is 0.5000*",
        ),
        (
            'ir_threshold("P@10", 0.5, tag="billing")',
            "precision@10 of the queries tagged billing is 0.2000, 0.3000 below*",
        ),
    ],
)
def test_every_word_of_the_mark_gates(project, mark, sentence):
    project.test(['ir_golden("golden/*.yaml")', mark])
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([sentence])


def test_thresholds_in_the_golden_set_gate_as_marks_do(project):
    golden = project.path / "golden/faq.yaml"
    golden.write_text("thresholds: {mrr: 0.9}\nslices: {billing: {recall@10: 1.0}}\n" + golden.read_text())
    project.test('ir_golden("golden/*.yaml")')
    result = project.run("-v")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["mrr is 0.8333*", "  Set in golden/faq.yaml:1:14."])


def test_a_query_has_thresholds_of_its_own(project):
    golden = project.path / "golden/faq.yaml"
    golden.write_text(golden.read_text() + "    thresholds: {mrr: 1.0}\n")
    project.test('ir_golden("golden/*.yaml")')
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["mrr of the query hours is 0.5000, 0.5000 below its own threshold*"])


def test_a_querys_own_threshold_replaces_min_each(project):
    golden = project.path / "golden/faq.yaml"
    golden.write_text(golden.read_text() + "    thresholds: {mrr: 0.4}\n")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", min_each=0.6)'])
    project.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("setting", "module", "cls", "function", "golden", "parameter", "wanted"),
    [
        ("0.99", None, None, None, None, None, "0.9900"),
        ("0.99", "0.98", None, None, None, None, "0.9800"),
        ("0.99", "0.98", "0.97", None, None, None, "0.9700"),
        ("0.99", "0.98", "0.97", "0.96", None, None, "0.9600"),
        ("0.99", "0.98", "0.97", "0.96", "0.95", None, "0.9500"),
        ("0.99", "0.98", "0.97", "0.96", "0.95", "0.94", "0.9400"),
    ],
)
def test_the_nearest_place_wins(project, setting, module, cls, function, golden, parameter, wanted):
    project.write("pytest.ini", f"[pytest]\nir_thresholds =\n    mrr {setting}\n")
    if golden:
        path = project.path / "golden/faq.yaml"
        path.write_text(f"thresholds: {{mrr: {golden}}}\n" + path.read_text())
    mark = 'pytest.mark.ir_threshold("mrr", {})'
    param_mark = f"marks={mark.format(parameter)}" if parameter else ""
    lines = [
        "import pytest",
        f"pytestmark = {mark.format(module)}" if module else "",
        f"@{mark.format('0.1')}",
        "class Base: pass",
        f"@{mark.format(cls)}" if cls else "",
        f"class TestSearch({'Base' if cls else 'object'}):",
        '    @pytest.mark.ir_golden("golden/*.yaml")',
        f"    @{mark.format(function)}" if function else "",
        f'    @pytest.mark.parametrize("x", [pytest.param(1, {param_mark})])',
        "    def test_it(self, irmetrics, x):",
        "        irmetrics.check()",
        "",
    ]
    (project.path / "test_search.py").write_text("\n".join(lines))
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"mrr is 0.8333, *: at least {wanted} is required."])


def test_off_cancels_an_inherited_word_and_no_other(project):
    project.write("pytest.ini", "[pytest]\nir_thresholds =\n    mrr 0.99\n    recall@10 0.5\n")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", "off")'])
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*recall@10 1.0000"])
    result.stdout.no_fnmatch_line("*mrr 0.8333*")


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ('ir_treshold("mrr", 0.5)', "There is no mark 'ir_treshold'. Did you mean 'ir_threshold'?"),
        ('ir_threshold("ndgc@10", 0.5)', "*ndgc*ndcg*"),
        ('ir_threshold("mrr")', "*has no limit*"),
        ('ir_threshold("mrr", 1.5)', "*1.5*"),
        ('ir_threshold("mrr", mim=0.5)', "*mim*min*"),
        ('ir_threshold("mrr", 0.5, min=0.5)', "*`min` is given twice*"),
        ('ir_threshold("mrr", metric="map", min=0.5)', "*`metric` is given twice*"),
        ("ir_threshold(min=0.5)", "*write ir_threshold(*"),
        ('ir_threshold("mrr", 0.5, 0.9)', "*write ir_threshold(*"),
        ('ir_threshold("mrr", 0.5, tag="biling")', "*no query has the tag 'biling'*"),
        ('ir_threshold("ndcg@100", 0.5)', "*ndcg@100 needs 100 results a query*ir_depth = 100*"),
        ('ir_threshold("no_answer", 0.5)', "A gate over no query: *"),
        ('ir_golden("gold/*.yaml")', "ir_golden('gold/?.yaml') matches no file*"),
        ('ir_golden("golden")', "ir_golden('golden') is a folder*Write which files: golden/[*].yaml."),
        ("ir_golden()", "ir_golden needs a path or pattern*"),
        ('ir_golden("golden/*.yaml", dept=3)', "ir_golden has no argument 'dept'*"),
    ],
)
def test_a_mark_without_a_meaning_fails_its_test(project, mark, message):
    marks = [mark] if mark.startswith("ir_golden") else ['ir_golden("golden/*.yaml")', mark]
    project.test(marks)
    result = project.run("-W", "ignore::pytest.PytestUnknownMarkWarning")
    result.assert_outcomes(failed=1)
    joined = printed(result)
    import fnmatch

    assert fnmatch.fnmatch(joined, f"*{message}*"), result.stdout.str()


def test_the_words_of_the_mark_may_all_be_named(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold(metric="mrr", min=0.99)'])
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["mrr is 0.8333, 0.1567 below the threshold: *"])


def test_what_is_reported_unless_told_otherwise_shrinks_with_the_depth_of_the_mark(project):
    project.test('ir_golden("golden/*.yaml", depth=3)')
    result = project.run("--ir-baseline-update", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  ndcg@3 *"])
    result.stdout.no_fnmatch_line("*ndcg@10*")
    project.answers({})
    result = project.run("--ir-baseline")
    result.stdout.fnmatch_lines(["mrr fell by 0.8333 *"])
    project.write("pytest.ini", "[pytest]\nir_metrics = ndcg@10\n")
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["ndcg@10 needs 10 results a query, and the retriever is asked for 3.*"])


def test_a_setting_for_a_tag_that_no_golden_set_has_is_named(project):
    project.write(
        "pytest.ini", "[pytest]\nir_thresholds =\n    mrr 0.5 tag=billing\n    mrr 0.5 tag=biling\n"
    )
    project.write("golden/more.yaml", "queries: [{query: opening hours, relevant: doc-1}]")
    result = project.run()
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["note: the setting ir_thresholds has a limit on mrr [[]biling], and no*"])
    result.stdout.no_fnmatch_line("*limit on mrr [[]billing]*")


def test_a_threshold_on_a_test_without_the_fixture_fails_it(project):
    project.write(
        "test_other.py", 'import pytest\n\n@pytest.mark.ir_threshold("mrr", 0.5)\ndef test_other(): pass\n'
    )
    result = project.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["ir_threshold binds to nothing: this test does not request the fixture irmetrics."]
    )


def test_a_threshold_on_a_class_without_the_fixture_fails_its_first_test(project):
    project.write(
        "test_other.py",
        """
        import pytest

        @pytest.mark.ir_threshold("mrr", 0.5)
        class TestOther:
            def test_a(self): pass
            def test_b(self): pass
        """,
    )
    result = project.run()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["The marks on TestOther bind to nothing*"])


@pytest.mark.parametrize("body", ["pass", "irmetrics.evaluate()"])
def test_a_threshold_that_was_never_checked_fails_the_test(project, body):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.1)'], body)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["This test has a threshold on mrr*never called irmetrics.check()*"])


def test_a_threshold_of_the_golden_set_that_was_never_checked_fails_the_test(project):
    golden = project.path / "golden/faq.yaml"
    golden.write_text("thresholds: {mrr: 0.1}\n" + golden.read_text())
    project.test('ir_golden("golden/*.yaml")', "pass")
    project.run().assert_outcomes(failed=1)


def test_a_body_that_skips_has_nothing_to_check(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.1)'], 'pytest.skip("no engine")')
    project.run().assert_outcomes(skipped=1)


def test_a_second_check_is_an_error_and_evaluate_is_free(project):
    project.test(
        'ir_golden("golden/*.yaml")', "irmetrics.evaluate(); irmetrics.evaluate(); irmetrics.check()"
    )
    project.run().assert_outcomes(passed=1)
    project.test('ir_golden("golden/*.yaml")', "irmetrics.check(); irmetrics.check()")
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["This test calls check a second time*"])


def test_nothing_to_gate_passes_and_says_so(project):
    project.test('ir_golden("golden/*.yaml")')
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["golden/faq.yaml: passes, nothing gated; 3 queries;*", "*Nothing is gated here*"]
    )


def test_max_drop_without_a_baseline_is_listed_as_not_checked(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5, max_drop=0.01)'])
    result = project.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*mrr: max_drop 0.01 is not checked without --ir-baseline."])


def test_forbidden_documents_and_answers_to_no_answer_queries_always_fail(project):
    project.write(
        "golden/faq.yaml",
        """
        queries:
          - {id: a, query: a, relevant: [d1], forbidden: [d9]}
          - {id: b, query: b, no_answer: true}
        """,
    )
    project.answers({"a": ["d1", "d9"], "b": ["d1"]})
    project.test('ir_golden("golden/*.yaml")')
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "1 query returns a document that is forbidden.",
            "1 query marked `no_answer` got an answer*",
            "*d9 is forbidden and stands at rank 2.",
            "*Marked no_answer, and 1 document came back.",
        ]
    )


def test_a_threshold_on_no_answer_allows_some(project):
    project.write(
        "golden/faq.yaml",
        """
        queries:
          - {id: a, query: a, relevant: [d1]}
          - {id: b, query: b, no_answer: true}
          - {id: c, query: c, no_answer: true}
        """,
    )
    project.answers({"a": ["d1"], "b": ["d1"]})
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("no_answer", 0.5)'])
    project.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("answer", "state"), [([], "still fails"), (["d2"], "would pass now: take the mark away")]
)
def test_an_xfail_query_is_shown_and_in_no_mean(project, answer, state):
    project.write(
        "golden/faq.yaml",
        """
        queries:
          - {id: a, query: a, relevant: [d1]}
          - {id: b, query: b, relevant: [d2], forbidden: [d9], xfail: TICKET-7}
        """,
    )
    project.answers({"a": ["d1"], "b": answer})
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 1.0)'])
    result = project.run("-v")
    result.assert_outcomes(passed=1)
    joined = printed(result)
    assert f"The query b is marked xfail (TICKET-7) and {state}." in joined


def test_a_mean_above_its_max_names_the_queries_that_lift_it(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", max=0.5)'])
    result = project.run("-v")
    result.assert_outcomes(failed=1)
    places = [line for line in result.outlines if line.startswith("golden/faq.yaml:") and ": " in line]
    assert [line.partition(": ")[2] for line in places[:3]] == ["refund", "reset", "hours"]


def test_latency_is_gated_by_max_and_never_stored(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("latency_p95", max=60000)'])
    project.run("-v", "--ir-baseline-update").assert_outcomes(passed=1)
    assert "latency" not in project.baseline.read_text()
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("latency_p95", max=0.000001)'])
    result = project.run("-v")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["latency_p95 is * ms, * ms above the threshold*"])
    assert "ms is allowed. Slowest: " in printed(result)


def test_metrics_of_ones_own_come_through_the_hook(project):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + "\n\ndef pytest_irmetrics_metrics(config):\n"
        + "    return {'first': lambda query, ranking, k, bonus=0: bonus + float(ranking[0] in query.judgments)}\n"
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("first(bonus=1)@5", 1.9)'])
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["first(bonus=1)@5 is 1.6667, 0.2333 below the threshold*"])


@pytest.mark.parametrize("value", ['float("nan")', '"x"', "1 / 0"])
def test_a_metric_of_ones_own_that_breaks_is_told_by_query(project, value):
    conftest = project.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + f"\n\ndef pytest_irmetrics_metrics(config):\n    return {{'mine': lambda query, ranking, k: {value}}}\n"
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mine", 0.1)'])
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the metric mine *the query 'reset'*"])
    result.stdout.no_fnmatch_line("*Traceback*")


class TestTags:
    """Limits on the queries that carry a tag."""

    def test_a_gated_slice_has_a_row_of_its_own(self, project):
        project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5, tag="billing")'])
        result = project.run("-v", "-v")
        result.assert_outcomes(passed=1)
        result.stdout.re_match_lines([r"  mrr \[billing\] +1 +1\.0000 +≥0\.5 +passes"])
        project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("map", 0.9, tag="billing")'])
        project.answers({"refund policy": ["doc-5", "doc-9"]})
        result = project.run("-v")
        result.assert_outcomes(failed=1)
        result.stdout.re_match_lines([r"  map \[billing\] +1 +0\.2500 +≥0\.9 +FAILS"])

    NOTE = (
        "the setting ir_thresholds has a limit on mrr [biling], and no golden set of this run has that tag."
    )

    def test_a_limit_of_the_settings_on_a_tag_that_nothing_has_is_named(self, project):
        project.write(
            "golden/other.yaml", "queries: [{query: opening hours, relevant: doc-2, tags: [open]}]\n"
        )
        project.write(
            "pytest.ini", "[pytest]\nir_thresholds =\n    mrr 0.5 tag=biling\n    mrr 0.4 tag=open\n"
        )
        result = project.run("-q")
        result.assert_outcomes(passed=2)
        assert self.NOTE in printed(result)
        assert "[open]" not in printed(result)

    def test_nothing_is_said_of_a_tag_that_one_golden_set_has(self, project):
        project.write(
            "golden/other.yaml", "queries: [{query: opening hours, relevant: doc-2, tags: [biling]}]\n"
        )
        project.write("pytest.ini", "[pytest]\nir_thresholds = mrr 0.5 tag=biling\n")
        result = project.run("-v")
        result.assert_outcomes(passed=2)
        assert "has that tag" not in printed(result)
