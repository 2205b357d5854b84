"""A baseline that is empty, or that was edited by hand, fails; and a metric of one's own cannot edit the golden set."""

from __future__ import annotations

import json

import pytest

from tests.plugin.conftest import GOLDEN_MARK, WITHOUT_RESET, printed, store


def test_a_metric_of_ones_own_cannot_change_the_golden_set(project):
    project.write(
        "conftest.py",
        (project.path / "conftest.py").read_text()
        + """
def pytest_irmetrics_metrics(config):
    def easy(query, ranking, k):
        query.judgments.pop("doc-40", None)
        return 1.0
    return {"easy": easy}
""",
    )
    project.test([GOLDEN_MARK, 'ir_threshold("easy", 0.5)'])
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(failed=1)
    assert "the metric easy tried to change the query 'reset': a golden set is read-only" in printed(result)
    assert not project.baseline.exists()


@pytest.mark.parametrize(
    "change",
    [
        "evaluation.run.answers['reset'].rankings = (('doc-3',),)",
        "evaluation.run.answers.clear()",
        "evaluation.run.depth = 3",
    ],
)
def test_a_hook_does_not_change_what_is_stored(project, change):
    store(project)
    stored = project.baseline.read_bytes()
    project.write(
        "conftest.py",
        (project.path / "conftest.py").read_text()
        + f"""
def pytest_irmetrics_evaluated(item, evaluation):
    {change}
""",
    )
    store(project)
    assert project.baseline.read_bytes() == stored


class TestEmptyAndEditedBaselines:
    def test_a_baseline_without_queries_fails(self, project):
        store(project)
        data = json.loads(project.baseline.read_text())
        project.baseline.write_text(json.dumps({**data, "queries": []}))
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        assert "--ir-baseline-update" in result.stdout.str()

    def test_an_empty_run_to_compare_with_fails(self, project):
        project.test(
            [GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'],
            body="from pytest_irmetrics import Run; irmetrics.check(against=Run({}))",
        )
        project.run().assert_outcomes(failed=1)

    def test_a_baseline_whose_rankings_were_edited_to_be_worse_fails(self, project):
        project.test([GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'])
        store(project)
        text = project.baseline.read_text()
        assert '[["doc-12", "doc-3", "doc-40"]]' in text
        project.baseline.write_text(
            text.replace('[["doc-12", "doc-3", "doc-40"]]', '[["doc-3", "doc-5", "doc-6"]]')
        )
        project.answers(WITHOUT_RESET)
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        text = printed(result)
        assert "[faq].json was edited after it was stored: its header tells" in text
        assert (
            "  Restore the file:\n  `git checkout -- 'ir_baselines/test_search/test_search_quality[faq].json'`.\n"
            in result.stdout.str()
        )
        assert text.count("--ir-baseline-update") == 1

    def test_a_baseline_of_other_labels_and_metrics_still_serves(self, project):
        store(project)
        golden = project.path / "golden" / "faq.yaml"
        golden.write_text(golden.read_text().replace("doc-4: 1", "doc-4: 2"))
        project.write("pytest.ini", "[pytest]\nir_metrics =\n    mrr\n    recall@5\n")
        project.run("--ir-baseline").assert_outcomes(passed=1)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('"mrr": 0.8333333333333334', '"mrr": 0.5'),
            ('{"doc-1": 1}', '{"doc-7": 1}'),
            ('{"doc-4": 1, "doc-7": 0, "doc-9": 3}', '{"doc-4": 3, "doc-7": 0, "doc-9": 1}'),
            ('"weight": 1.0', '"weight": 100.0'),
            ('"text": "opening hours", ', '"text": "opening hours", "xfail": true, '),
            ('[["doc-2", "doc-1"]]', '[["doc-2", "doc-1"], ["doc-2", "doc-3"]]'),
            ('[["doc-2", "doc-1"]]', "[[]]"),
        ],
        ids=["mean", "judgment", "grades", "weight", "xfail", "repeat", "answer"],
    )
    def test_any_edit_that_moves_a_mean_fails(self, project, old, new):
        store(project)
        text = project.baseline.read_text()
        assert old in text
        project.baseline.write_text(text.replace(old, new, 1))
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        assert "was edited after it was stored" in printed(result)

    def test_a_query_that_was_taken_out_of_the_file_fails(self, project):
        store(project)
        lines = project.baseline.read_text().splitlines(keepends=True)
        project.baseline.write_text("".join(line for line in lines if '"hours"' not in line))
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        assert "was edited after it was stored" in printed(result)

    def test_taking_the_judgments_out_as_well_does_not_hide_an_edit(self, project):
        store(project)
        data = json.loads(project.baseline.read_text())
        for query in data["queries"]:
            query["rankings"] = [["doc-3"]]
            del query["judgments"]
        project.baseline.write_text(json.dumps(data))
        result = project.run("--ir-baseline")
        result.assert_outcomes(failed=1)
        assert "was edited after it was stored" in printed(result)

    def test_an_edited_file_is_no_better_to_check_against(self, project):
        store(project)
        text = project.baseline.read_text()
        project.write("old.json", text.replace('[["doc-12", "doc-3", "doc-40"]]', '[["doc-3"]]'))
        project.test(
            [GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'], body='irmetrics.check(against="old.json")'
        )
        result = project.run()
        result.assert_outcomes(failed=1)
        assert "old.json was edited after it was stored" in printed(result)
        assert "--ir-baseline-update" not in printed(result)

    def test_an_edited_file_can_be_replaced(self, project):
        store(project)
        text = project.baseline.read_text()
        project.baseline.write_text(text.replace('[["doc-12", "doc-3", "doc-40"]]', '[["doc-3"]]'))
        store(project)
        assert project.baseline.read_text() == text

    @pytest.mark.parametrize("options", [["--ir-baseline"], ["--ir-selftest"]])
    def test_one_without_queries_fails_before_anything_is_asked(self, project, options):
        store(project)
        data = json.loads(project.baseline.read_text())
        project.baseline.write_text(json.dumps({**data, "queries": []}))
        project.retrieve("1 / 0")
        result = project.run(*options)
        result.assert_outcomes(failed=1)
        assert "[faq].json:1: this run holds no query, so there is nothing to compare with." in printed(
            result
        )

    def test_an_evaluation_of_an_empty_run_fails_as_well(self, project):
        body = (
            "from pytest_irmetrics import Run; irmetrics.check(against=irmetrics.evaluate(retriever=Run({})))"
        )
        project.test([GOLDEN_MARK, 'ir_threshold("mrr", max_drop=0.01)'], body=body)
        project.run().assert_outcomes(failed=1)


class TestUneditedBaselines:
    """What changed in the golden set, the settings or the hooks since does not look like an edit of the file."""

    def edit(self, project, old, new):
        golden = project.path / "golden" / "faq.yaml"
        assert old in golden.read_text()
        golden.write_text(golden.read_text().replace(old, new))

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("relevant: doc-1", "relevant: doc-2"),
            ("relevant: doc-1", "relevant: doc-1\n    weight: 7"),
            ("queries:", "relevance_level: 2\nqueries:"),
            ("relevant: doc-1", "relevant: doc-1\n    xfail: T-1"),
            ("query: opening hours", "query: when open"),
            ("id: hours", "id: open"),
            ("tags: [billing]", "tags: [other]"),
            ("    relevant: doc-1", "    no_answer: true"),
        ],
        ids=["judgment", "weight", "level", "xfail", "words", "id", "tag", "no_answer"],
    )
    def test_an_edited_golden_set_is_none(self, project, old, new):
        project.test([GOLDEN_MARK])
        store(project)
        self.edit(project, old, new)
        assert "edited after" not in printed(project.run("--ir-baseline"))
        self.edit(project, new, old)
        assert "edited after" not in printed(project.run("--ir-baseline"))

    def test_an_excluded_query_that_counts_again_is_none(self, project):
        project.test([GOLDEN_MARK])
        self.edit(project, "relevant: doc-1", "relevant: doc-1\n    xfail: T-1")
        store(project)
        assert project.baseline.read_text().count('"xfail": true') == 1
        self.edit(project, "\n    xfail: T-1", "")
        assert "edited after" not in printed(project.run("--ir-baseline"))

    def test_other_metrics_depths_and_repeats_are_none(self, project):
        store(project)
        for setting in (
            "ir_metrics = recall@5",
            "ir_metrics = precision judged",
            "ir_depth = 3",
            "ir_repeat = 3",
        ):
            project.write("pytest.ini", f"[pytest]\n{setting}\n")
            assert "edited after" not in printed(project.run("--ir-baseline")), setting

    def test_a_metric_of_ones_own_that_changed_or_went_is_none(self, project):
        conftest = (project.path / "conftest.py").read_text()
        hook = "\ndef pytest_irmetrics_metrics(config):\n    return {{'own': lambda query, ranking, k: {}}}\n"
        project.test([GOLDEN_MARK, 'ir_threshold("own", max_drop=0.01)'])
        project.write("conftest.py", conftest + hook.format("0.5"))
        store(project)
        project.write("conftest.py", conftest + hook.format("0.75"))
        project.run("--ir-baseline").assert_outcomes(passed=1)
        project.write("conftest.py", conftest)
        project.test([GOLDEN_MARK])
        project.run("--ir-baseline").assert_outcomes(passed=1)

    def test_one_without_means_or_without_judgments_still_serves(self, project):
        store(project)
        data = json.loads(project.baseline.read_text())
        del data["means"]
        project.baseline.write_text(json.dumps(data))
        for options in ([], ["-q"]):
            result = project.run("--ir-baseline", *options)
            result.assert_outcomes(passed=1)
            assert (
                "The baseline's header tells no means, so an edit of its rankings would not show."
                in printed(result)
            )
        for query in data["queries"]:
            del query["judgments"]
        project.baseline.write_text(json.dumps(data))
        project.run("--ir-baseline").assert_outcomes(passed=1)
