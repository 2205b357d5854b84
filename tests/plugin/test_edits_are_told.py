"""What the golden set's edits took out of the gates is said, and what a check did not consult or store."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import ANSWERS, GOLDEN_MARK, WITHOUT_RESET, edit_golden_set, printed, store


class TestQuietNotes:
    """What left the gate, or counts otherwise, is said under -q too."""

    @pytest.mark.parametrize(
        ("old", "new", "told"),
        [
            ("id: hours", "id: open", "hours → open"),
            ("relevant: doc-1", "relevant: doc-1\n    weight: 0.01", "hours: weight 1 → 0.01"),
            ("queries:", "relevance_level: 0.5\nqueries:", "relevance level 1 → 0.5"),
            ("query: opening hours", "query: when open", "1 query reworded (text or params)"),
            (
                "relevant: doc-1",
                "relevant: doc-1\n    xfail: T-1",
                "1 query is marked xfail since the baseline",
            ),
            ("    relevant: doc-1", "    no_answer: true", "hours: doc-1 1 → removed"),
            ("relevant: doc-1\n", "relevant: doc-2\n", "hours: doc-2 unjudged → 1"),
            ("  - id: hours\n    query: opening hours\n    relevant: doc-1\n", "", "any more: hours"),
        ],
    )
    def test_each_edit_is_said_once(self, project, old, new, told):
        project.test([GOLDEN_MARK])
        store(project)
        edit_golden_set(project, old, new)
        for options in ([], ["-q"], ["-qq"], ["-v"], ["-q", "--tb=no"]):
            assert printed(project.run("--ir-baseline", *options)).count(told) == 1, options

    @pytest.mark.parametrize("options", [[], ["-q"]], ids=str)
    def test_a_moved_tag_under_a_slice_threshold_is_noted(self, project, options):
        project.test([GOLDEN_MARK, 'ir_threshold("mrr", 0.9, tag="billing")'])
        edit_golden_set(project, "relevant: doc-1\n", "relevant: doc-1\n    tags: [billing]\n")
        project.answers({**ANSWERS, "opening hours": ["doc-1"]})
        store(project)
        edit_golden_set(
            project, "relevant: doc-1\n    tags: [billing]\n", "relevant: doc-1\n    tags: [other]\n"
        )
        project.answers({**ANSWERS, "opening hours": ["doc-2", "doc-1"]})
        project.write("pytest.ini", "[pytest]\nir_max_drop = off\n")
        result = project.run("--ir-baseline", *options)
        result.assert_outcomes(passed=1)
        assert "hours is not tagged so any more" in printed(result)

    def test_an_exclusion_that_was_stored_is_no_news(self, project):
        edit_golden_set(project, "relevant: doc-1\n", "relevant: doc-1\n    xfail: T-1\n")
        store(project)
        assert "marked xfail since" not in printed(project.run("--ir-baseline"))

    def test_a_new_query_is_no_loss(self, project):
        store(project)
        golden = project.path / "golden" / "faq.yaml"
        golden.write_text(golden.read_text() + "  - query: more\n    relevant: doc-3\n")
        project.answers({**ANSWERS, "more": ["doc-3"]})
        assert "1 query new since the baseline" in printed(project.run("--ir-baseline"))
        assert "new since" not in printed(project.run("--ir-baseline", "-q"))


def test_a_check_against_another_run_says_that_the_baseline_was_not_consulted(project):
    project.test([GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'])
    store(project)
    project.answers(WITHOUT_RESET)
    project.test(
        [GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'],
        body="irmetrics.check(against=irmetrics.evaluate().run)",
    )
    for options in ([], ["-q"]):
        result = project.run("--ir-baseline", *options)
        result.assert_outcomes(passed=1)
        assert "test_search_quality[faq].json, was not consulted" in printed(result)


def test_a_gain_that_is_not_stored_is_said_once_with_the_command(project):
    project.test(
        [GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)', 'ir_threshold("ndcg@10", max_drop=0.01)']
    )
    project.answers(WITHOUT_RESET)
    store(project)
    project.answers(ANSWERS)
    result = project.run("--ir-baseline")
    result.assert_outcomes(passed=1)
    assert printed(result).count("--ir-baseline-update") == 1
    project.run("--ir-baseline-update")
    assert "--ir-baseline-update" not in printed(project.run("--ir-baseline"))


class TestGains:
    """A gain that is not stored is said once a run, with a command that can be copied."""

    @pytest.fixture
    def gained(self, project):
        project.test([GOLDEN_MARK])
        project.answers(WITHOUT_RESET)
        store(project)
        project.answers(ANSWERS)
        return project

    def test_the_command_stands_on_a_line_of_its_own(self, gained):
        result = gained.run("--ir-baseline")
        result.stdout.fnmatch_lines(
            [
                "note: golden/faq.yaml (ndcg@10 +0.3066) rose further than may be lost. Until*",
                "  To store it: pytest 'test_search.py::test_search_quality[[]faq[]]' --ir-baseline-update",
            ]
        )

    def test_quiet_runs_say_it_too(self, gained):
        gained.run("--ir-baseline", "-q").stdout.fnmatch_lines(["  To store it: pytest *"])

    def test_several_sets_share_one_command(self, gained):
        golden = gained.path / "golden"
        (golden / "other.yaml").write_text((golden / "faq.yaml").read_text())
        gained.answers(WITHOUT_RESET)
        gained.run("--ir-baseline-update").assert_outcomes(passed=2)
        gained.answers(ANSWERS)
        for options in ([], ["-n", "2"]):
            result = gained.run("--ir-baseline", *options)
            assert "golden/faq.yaml (ndcg@10 +0.3066), golden/other.yaml (ndcg@10 +0.3066) rose" in printed(
                result
            )
            assert printed(result).count("--ir-baseline-update") == 1
            result.stdout.fnmatch_lines(["  To store it: pytest --ir-baseline-update test_search.py"])

    @pytest.mark.parametrize(
        ("marks", "options"),
        [
            (['ir_threshold("ndcg@10", max_drop=0.5)'], ["--ir-baseline"]),
            (['ir_threshold("ndcg@10", max_drop="90%")'], ["--ir-baseline"]),
            (
                ['ir_threshold("ndcg@10", max_lost=0)', 'ir_threshold("ndcg@10", max_drop="off")'],
                ["--ir-baseline"],
            ),
            (['ir_threshold("ndcg@10", 1.0)'], ["--ir-baseline"]),
            ([], []),
            ([], ["--ir-baseline-update"]),
            ([], ["--ir-baseline", "--ir-query", "reset"]),
            ([], ["--ir-selftest"]),
        ],
        ids=["within", "per_cent", "off", "failed", "no_baseline", "update", "query", "selftest"],
    )
    def test_nothing_is_said_where_nothing_is_to_be_stored(self, gained, marks, options):
        gained.test([GOLDEN_MARK, *marks])
        assert "rose further" not in printed(gained.run(*options))

    def test_a_test_that_failed_for_another_reason_stores_nothing(self, gained):
        gained.test([GOLDEN_MARK], body="irmetrics.check(); assert False")
        result = gained.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        assert "rose further" not in printed(result)

    def test_a_change_of_labels_is_no_gain(self, project):
        project.test([GOLDEN_MARK])
        store(project)
        edit_golden_set(project, "relevant: doc-1\n", "relevant: [doc-1, doc-2]\n")
        assert "rose further" not in printed(project.run("--ir-baseline"))


class TestAgainst:
    """A check against another run neither reads nor replaces the baseline of its test."""

    BODY = "irmetrics.check(against=irmetrics.evaluate().run)"

    def test_an_update_stores_nothing_and_says_so(self, project):
        project.test([GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'], body=self.BODY)
        result = project.run("--ir-baseline-update")
        result.assert_outcomes(passed=1)
        assert not project.baseline.exists()
        assert "No baseline was stored: this test compares with the other run" in printed(result)

    def test_an_update_leaves_the_baseline_as_it_is(self, project):
        project.test([GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'])
        store(project)
        stored = project.baseline.read_bytes()
        project.answers(WITHOUT_RESET)
        project.test([GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'], body=self.BODY)
        result = project.run("--ir-baseline-update")
        assert project.baseline.read_bytes() == stored
        assert "was not consulted" in printed(result)
        assert "Nor was it replaced." in printed(result)

    def test_a_failure_says_it_too(self, project):
        store(project)
        project.test([GOLDEN_MARK, 'ir_threshold("mrr", 0.99)'], body=self.BODY)
        for options in ([], ["-q"], ["-q", "--tb=no"]):
            result = project.run("--ir-baseline", *options)
            result.assert_outcomes(failed=1)
            assert printed(result).count("was not consulted") == 1, options

    def test_nothing_is_said_where_there_is_no_baseline(self, project):
        project.test([GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'], body=self.BODY)
        assert "was not consulted" not in printed(project.run())
