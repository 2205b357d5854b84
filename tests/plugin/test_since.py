"""`--ir-since=REF`: what a branch accepts since it left REF, in every output."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest

from pytest_irmetrics.reports import json as json_report
from tests.git_repository import commit, git, isolate_git, needs_git
from tests.plugin.conftest import ANSWERS, edit_golden_set, make_ranking_worse, printed, store, text_of
from tests.two_years import build

pytestmark = needs_git

REVERSED = {
    "how do I reset my password": ["doc-3", "doc-5", "doc-12"],
    "refund policy": ["doc-5", "doc-6", "doc-9"],
    "opening hours": ["doc-2", "doc-3", "doc-1"],
}
FELL = "mrr fell from 0.8333 to 0.3333 (−0.5000) since main"


def doctor(project):
    """Reverse the search, lower the minimum, update the baseline and commit all of it."""
    project.answers(REVERSED)
    tests = project.path / "test_search.py"
    tests.write_text(tests.read_text().replace('"mrr", 0.5', '"mrr", 0.2'))
    store(project)
    commit(project.path, "Tidy up")


def told(result):
    """Return the lines of the summary of retrieval quality, without the heading."""
    lines = [line for line in result.outlines if line.strip()]
    start = next(i for i, line in enumerate(lines) if line.startswith("===") and "retrieval quality" in line)
    return lines[start + 1 :]


class TestADoctoredUpdate:
    """A search that is reversed, with its minimum lowered and its baseline updated, passes nowhere unseen."""

    @pytest.mark.parametrize("options", [[], ["-v"], ["-vv"], ["-n", "2"]], ids=str)
    def test_the_summary_begins_with_it(self, branch, options):
        doctor(branch)
        result = branch.run_apart("--ir-since=main", *options)
        assert result.ret == 0
        assert " ".join(told(result)[:2]).startswith(f"ACCEPTED: golden/faq.yaml: {FELL}")

    @pytest.mark.parametrize("options", [["-q"], ["-qq"], ["-q", "-n", "2"]], ids=str)
    def test_so_does_what_follows_the_tests_when_quiet(self, branch, options):
        doctor(branch)
        result = branch.run_apart("--ir-since=main", *options)
        assert result.ret == 0
        after = printed(result).partition("[100%] ")[2] or printed(result)
        assert f"ACCEPTED: golden/faq.yaml: {FELL}" in after[:80] or after.startswith("ACCEPTED")

    def test_the_run_without_the_option_is_green_and_says_nothing(self, branch):
        doctor(branch)
        result = branch.run("--ir-baseline")
        result.assert_outcomes(passed=1)
        assert "fell" not in printed(result)

    def test_it_names_who_pays_and_which_limits_hold_less(self, branch):
        doctor(branch)
        text = text_of(branch.run("--ir-since=main"))
        assert (
            "mrr: 3 queries pay: refund: 1.0000 → 0.3333, reset: 1.0000 → 0.3333, hours: 0.5000 → 0.3333."
            in text
        )
        assert (
            "Mark in test_search.py: ir_threshold('mrr', 0.5) → ir_threshold('mrr', 0.2) (holds less)."
            in text
        )
        assert "1 accepted; 1 test has a limit that holds less" in text

    def test_without_a_fall_the_count_of_lowered_limits_stands_out(self, branch):
        branch.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.2)'])
        output = branch.run("--ir-since=main", "--color=yes").stdout.str()
        assert re.search(
            r"\x1b\[33msince main \(\w+\): 1 changed; 1 test has a limit that holds less\x1b", output
        )

    def test_reports_begin_with_it(self, branch):
        doctor(branch)
        reports = [f"--ir-report={form}:{form}.out" for form in ("md", "json", "html")]
        branch.run("--ir-since=main", *reports, "--junitxml=junit.out")
        markdown = (branch.path / "md.out").read_text(encoding="utf-8").splitlines()
        assert markdown[0].endswith("1 with a fall since main")
        assert markdown[2].startswith("**ACCEPTED: mrr fell from 0.8333 to 0.3333")
        text = (branch.path / "json.out").read_text(encoding="utf-8")
        document = json.loads(text)
        assert document["accepted"][0]["text"].startswith("ACCEPTED: mrr fell from")
        assert document["tests"][0]["since"]["means"][0]["accepted"] == "baseline"
        assert json_report.loads(text).accepted[0][1] == document["accepted"][0]["text"]
        html = (branch.path / "html.out").read_text(encoding="utf-8")
        assert html.index("ACCEPTED: mrr fell from") < html.index("<main>")
        properties = ET.parse(branch.path / "junit.out").iter("property")
        assert [name for one in properties if not (name := one.get("name")).startswith("ir.")] == [
            "irmetrics_accepted"
        ]

    def test_in_github_actions_it_is_a_warning_at_the_baseline(self, branch, monkeypatch):
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        doctor(branch)
        result = branch.run("--ir-since=main", "-q")
        warnings = [line for line in result.outlines if line.startswith("::warning ")]
        assert len(warnings) == 1
        assert "file=ir_baselines/test_search/test_search_quality[faq].json" in warnings[0]
        assert "::test_search.py::test_search_quality[faq]: ACCEPTED: mrr fell" in warnings[0]
        assert not [line for line in branch.run("--ir-since=feature", "-q").outlines if "::warning" in line]

    def test_ir_accept_fail_makes_it_a_failure(self, branch):
        doctor(branch)
        result = branch.run("-v", "--ir-since=main", "-o", "ir_accept=fail")
        result.assert_outcomes(failed=1)
        text = text_of(result)
        assert "This branch stores a baseline of 0.3333, which `ir_accept = fail` does not allow." in text
        assert "Set in the setting ir_accept." in text

    def test_what_a_refused_fall_advises_turns_it_green(self, branch):
        doctor(branch)
        refusing = ["--ir-since=main", "-o", "ir_accept=fail"]
        text = text_of(branch.run(*refusing))
        assert text.count("To accept it, add `-o ir_accept=warn` to this command;") == 1
        branch.run(*refusing, "-o", "ir_accept=warn").assert_outcomes(passed=1)
        assert "else mend the search, and store its baseline again." in text
        branch.answers(ANSWERS)
        branch.run(*refusing).assert_outcomes(failed=1)  # the baseline still allows the fall
        store(branch)
        branch.run(*refusing).assert_outcomes(passed=1)

    def test_the_updating_run_says_it_as_well(self, branch):
        branch.write("pytest.ini", "[pytest]\nir_since = main\nir_accept = fail\n")
        branch.answers(REVERSED)
        tests = branch.path / "test_search.py"
        tests.write_text(tests.read_text().replace('"mrr", 0.5', '"mrr", 0.2'))
        result = branch.run("--ir-baseline-update")
        result.assert_outcomes(passed=1)
        assert " ".join(told(result)).startswith(f"ACCEPTED: golden/faq.yaml: {FELL}")

    def test_half_of_a_fall_that_is_stored_does_not_hide_the_other_half(self, branch):
        tests = branch.path / "test_search.py"
        tests.write_text(tests.read_text().replace('"mrr", 0.5', '"mrr", max_drop=0.2'))
        commit(branch.path, "a looser gate")
        git(branch.path, "branch", "-f", "main")
        branch.answers({**ANSWERS, "opening hours": ["doc-2"]})  # −0.1667, which may be
        store(branch)
        branch.answers(
            {**ANSWERS, "opening hours": ["doc-2"], "refund policy": ["doc-5", "doc-9"]}
        )  # −0.1667 more
        assert "ACCEPTED" not in printed(branch.run("--ir-baseline"))
        text = printed(branch.run("--ir-since=main"))
        assert "ACCEPTED: golden/faq.yaml: mrr fell from 0.8333 to 0.5000 (−0.3333) since main" in text
        assert "It passes, because this branch stores a baseline of 0.6667." in text

    def test_a_fall_that_only_the_stored_baseline_has_is_accepted_too(self, branch):
        doctor(branch)
        branch.answers(ANSWERS)
        text = printed(branch.run("--ir-since=main"))
        assert "ACCEPTED: golden/faq.yaml: mrr fell in the stored baseline from 0.8333 to 0.3333" in text


class TestLimitsThatHoldLess:
    def test_a_fall_that_passes_because_a_limit_was_raised_is_accepted(self, branch):
        branch.write("pytest.ini", "[pytest]\n")
        edit_golden_set(branch, "queries:", "thresholds: {mrr: {max_drop: 0.9}}\nqueries:")
        make_ranking_worse(branch)
        result = branch.run("--ir-since=main")
        result.assert_outcomes(passed=1)
        text = printed(result)
        assert "ACCEPTED: golden/faq.yaml: mrr fell" in text
        assert "It passes, because this branch raised how far it may fall." in text

    def test_no_limit_was_raised_where_another_pass_of_the_stored_baseline_fell(self, branch):
        branch.write("pytest.ini", "[pytest]\nir_repeat = 2\n")
        branch.retrieve("answers[query].append(answers[query].pop(0)) or answers[query][-1][:k]")
        good, bad = [ANSWERS], [REVERSED]
        for what, passes in (("then", good + good), ("stored", good + bad), ("today", bad + bad)):
            branch.answers({query: [answers[query] for answers in passes] for query in ANSWERS})
            if what != "today":
                store(branch)
                commit(branch.path, what)
            if what == "then":
                git(branch.path, "branch", "-f", "main")
        text = printed(branch.run("--ir-since=main"))
        assert "this branch stores a baseline of 0.5833." in text
        assert "raised how far" not in text

    def test_a_setting_that_was_edited_is_named(self, branch):
        branch.write("pytest.ini", "[pytest]\nir_max_drop = 0.9\n")
        text = text_of(branch.run("--ir-since=main"))
        assert "Setting ir_max_drop: none → 0.9." in text

    def test_a_fall_under_an_edited_setting_is_accepted(self, branch):
        branch.write("pytest.ini", "[pytest]\nir_max_drop = 0.9\n")
        make_ranking_worse(branch)
        result = branch.run("--ir-since=main")
        result.assert_outcomes(passed=1)
        assert "ACCEPTED: golden/faq.yaml: mrr fell" in printed(result)

    def test_a_removed_threshold_is_named(self, branch):
        edit_golden_set(branch, "queries:", "thresholds: {recall@10: {min: 0.2, max_drop: 0.1}}\nqueries:")
        store(branch)
        commit(branch.path)
        git(branch.path, "branch", "-f", "main")
        edit_golden_set(branch, "thresholds: {recall@10: {min: 0.2, max_drop: 0.1}}\n", "")
        branch.answers({**ANSWERS, "opening hours": ["doc-2"]})
        store(branch)
        text = text_of(branch.run("--ir-since=main"))
        assert "Threshold recall@10 min: 0.2 → none (holds less)." in text
        assert "ACCEPTED: golden/faq.yaml: mrr fell" in text
        assert "ACCEPTED: golden/faq.yaml: recall@10 fell" in text


class TestEditsOfTheGoldenSet:
    """Each edit has its part in the change of a mean, and what left or came is shown with its score."""

    def test_dropped_queries_have_the_scores_that_they_had(self, branch):
        edit_golden_set(branch, "  - id: hours\n    query: opening hours\n    relevant: doc-1\n", "")
        store(branch)
        text = text_of(branch.run("--ir-since=main", "-q"))
        assert "mrr 0.8333 → 1.0000: dropped +0.1667." in text
        assert "1 query dropped, with the mrr that they scored then: hours (0.5000)." in text
        assert "With those that left, at these scores, mrr would be 0.8333, not 1.0000." in text

    def test_excluded_queries_have_their_scores_then_and_now(self, branch):
        edit_golden_set(branch, "    relevant: doc-1\n", "    relevant: doc-1\n    xfail: T-1\n")
        branch.answers({**ANSWERS, "opening hours": ["doc-2", "doc-3"]})
        store(branch)
        text = text_of(branch.run("--ir-since=main", "-q"))
        assert (
            "1 query excluded (xfail), with the mrr that they scored then, and now: hours (0.5000 → 0.0000)."
            in text
        )
        assert "ACCEPTED: golden/faq.yaml: mrr fell, by the golden set of then, from 0.8333 to 0.6667" in text

    def test_reworded_queries_have_their_scores_then_and_now(self, branch):
        edit_golden_set(branch, "query: opening hours", "query: when are you open")
        branch.answers({**ANSWERS, "when are you open": ["doc-1"]})
        store(branch)
        text = text_of(branch.run("--ir-since=main", "-q"))
        assert (
            "1 query reworded (text, params or passages), with the mrr that they scored then, and now: hours (0.5000 → 1.0000)."
            in text
        )
        assert "mrr 0.8333 → 1.0000: reworded +0.1667." in text

    def test_a_query_that_stays_excluded_is_no_edit(self, branch):
        git(branch.path, "checkout", "-q", "main")
        edit_golden_set(branch, "    relevant: doc-1\n", "    relevant: doc-1\n    xfail: T-1\n")
        store(branch)
        commit(branch.path, "exclude a query")
        git(branch.path, "checkout", "-q", "-B", "feature")
        doctor(branch)
        result = branch.run("--ir-since=main", "--ir-report=report.json")
        assert "ACCEPTED: golden/faq.yaml: mrr fell" in text_of(result)
        assert "not excluded any more" not in text_of(result)

    def test_a_limit_in_per_cent_is_not_weighed_against_one_without(self, branch):
        git(branch.path, "checkout", "-q", "main")
        edit_golden_set(
            branch, "queries:", "thresholds: {mrr: {max_drop: 0.02}, map: {max_drop: 0.02}}\nqueries:"
        )
        store(branch)
        commit(branch.path, "set limits")
        git(branch.path, "checkout", "-q", "-B", "feature")
        edit_golden_set(
            branch,
            "{mrr: {max_drop: 0.02}, map: {max_drop: 0.02}}",
            "{mrr: {max_drop: 1%}, map: {max_drop: 0.04}}",
        )
        doctor(branch)
        text = text_of(branch.run("--ir-since=main"))
        assert "mrr max_drop: 0.02 → 1%." in text
        assert "map max_drop: 0.02 → 0.04 (holds less)." in text

    def test_added_queries_are_told_from_the_others(self, branch):
        edit_golden_set(branch, "queries:", "queries:\n  - {id: easy, query: easy, relevant: doc-1}")
        branch.answers({**ANSWERS, "easy": ["doc-1"]})
        store(branch)
        text = text_of(branch.run("--ir-since=main", "-q"))
        assert "mrr 0.8333 → 0.8750: added +0.0417." in text
        assert "Without those that were added, mrr is 0.8333, not 0.8750." in text

    def test_each_kind_of_edit_has_its_part(self, branch):
        edit_golden_set(branch, "    relevant: doc-1\n", "    relevant: doc-2\n    weight: 3\n")
        text = text_of(branch.run("--ir-since=main", "-q"))
        assert "mrr 0.8333 → 1.0000: judgments +0.1667." in text
        assert "2 judgments changed: hours: doc-1 1 → none, hours: doc-2 none → 1." in text
        assert "1 weight changed: hours 1 → 3." in text

    def test_a_new_depth_is_named(self, branch):
        text = text_of(branch.run("--ir-since=main", "-q", "-o", "ir_depth=20"))
        assert "Depth: 10 → 20." in text

    def test_what_a_greater_depth_finds_is_its_part(self, branch):
        branch.answers(
            {**ANSWERS, "opening hours": [*(f"doc-{number}" for number in range(20, 31)), "doc-1"]}
        )
        branch.run("--ir-since=main", "-o", "ir_depth=20", "--ir-report=json:r.out")
        mean = json.loads((branch.path / "r.out").read_text())["tests"][0]["since"]["means"][0]
        assert [part["part"] for part in mean["parts"]] == ["retriever", "depth"]
        assert sum(part["delta"] for part in mean["parts"]) == pytest.approx(mean["now"] - mean["then"])

    def test_the_parts_add_up(self, branch):
        edit_golden_set(branch, "    relevant: doc-1\n", "    relevant: doc-2\n    weight: 3\n")
        edit_golden_set(branch, "queries:", "queries:\n  - {id: easy, query: easy, relevant: doc-1}")
        edit_golden_set(branch, "query: refund policy", "query: refunds")
        branch.answers({**ANSWERS, "easy": ["doc-7", "doc-1"], "refunds": ["doc-2", "doc-4"]})
        store(branch)
        branch.run("--ir-since=main", "--ir-report=json:r.out")
        mean = json.loads((branch.path / "r.out").read_text())["tests"][0]["since"]["means"][0]
        assert {part["part"] for part in mean["parts"]} >= {"judgments", "reworded", "added"}
        assert sum(part["delta"] for part in mean["parts"]) == pytest.approx(mean["now"] - mean["then"])


class TestOtherStates:
    def test_what_nobody_touched_is_unchanged(self, branch):
        result = branch.run("--ir-since=main")
        result.assert_outcomes(passed=1)
        assert "since main" in told(result)[0]
        assert told(result)[0].endswith(": 1 unchanged")

    def test_a_new_test_is_named(self, branch):
        branch.write("golden/second.yaml", "queries: [{query: opening hours, relevant: doc-1}]\n")
        branch.run("--ir-baseline-update").assert_outcomes(passed=2)
        text = text_of(branch.run("--ir-since=main", "-q"))
        assert "golden/second.yaml: new since main" in text
        assert "1 new, 1 unchanged" in text

    def test_a_test_that_is_gone_is_named(self, branch):
        branch.write("golden/second.yaml", "queries: [{query: opening hours, relevant: doc-1}]\n")
        git(branch.path, "mv", "-k", "golden/faq.yaml", "elsewhere.yaml")
        git(branch.path, "rm", "-q", "-r", "ir_baselines")
        branch.run("--ir-baseline-update").assert_outcomes(passed=1)
        text = text_of(branch.run("--ir-since=main", "-q"))
        assert "Gone since main" in text
        assert (
            "ir_baselines/test_search/test_search_quality[faq].json. Its test is not gated any more." in text
        )

    def test_it_implies_ir_baseline(self, branch):
        make_ranking_worse(branch)
        branch.run("--ir-since=main").assert_outcomes(failed=1)

    def test_so_does_the_setting_unless_the_command_line_turns_it_off(self, branch):
        branch.write("pytest.ini", "[pytest]\nir_since = main\n")
        make_ranking_worse(branch)
        branch.run().assert_outcomes(failed=1)
        branch.run("--no-ir-baseline").assert_outcomes(passed=1)
        branch.run("--ir-since=").assert_outcomes(passed=1)

    def test_what_was_turned_off_says_nothing(self, branch):
        branch.write("pytest.ini", "[pytest]\nir_since = main\n")
        assert "since main" in printed(branch.run())
        for option in ("--no-ir-baseline", "--ir-since=", "--ir-selftest"):
            assert "since main" not in printed(branch.run(option)), option

    def test_a_run_that_replaces_baselines_stores_the_same_with_it(self, branch):
        branch.write("pytest.ini", "[pytest]\nir_metrics = no_answer\n")
        branch.test('ir_golden("golden/*.yaml")')
        store(branch)
        stored = branch.baseline.read_text()
        branch.run("--ir-baseline-update", "--ir-since=main").assert_outcomes(passed=1)
        assert branch.baseline.read_text() == stored

    def test_the_setting_does_not_gate_where_baselines_are_replaced(self, branch):
        branch.write("pytest.ini", "[pytest]\nir_since = main\n")
        branch.baseline.unlink()
        branch.run("--ir-baseline-update").assert_outcomes(passed=1)
        assert branch.baseline.exists()

    def test_it_and_no_ir_baseline_are_an_error(self, branch):
        result = branch.run("--ir-since=main", "--no-ir-baseline")
        assert "--no-ir-baseline turns that off" in result.stderr.str()

    def test_ir_accept_has_two_values(self, branch):
        result = branch.run("--ir-since=main", "-o", "ir_accept=maybe")
        result.assert_outcomes(failed=1)
        assert "ir_accept is 'maybe'; it is `warn` or `fail`." in printed(result)

    def test_single_queries_are_not_compared(self, branch):
        result = branch.run("--ir-since=main", "--ir-query=hours")
        result.assert_outcomes(passed=1)
        assert "since main" not in printed(result)

    def test_a_run_without_it_starts_no_process(self, branch, monkeypatch):
        def refuse(*_, **__):
            raise AssertionError("a process was started")

        monkeypatch.setattr("subprocess.Popen.__init__", refuse)
        branch.run("--ir-baseline").assert_outcomes(passed=1)
        branch.run("--ir-baseline-update").assert_outcomes(passed=1)


WORDS = {
    "first": None,
    "wanted": "mrr 0.9500 → 1.0000: retriever +0.0500.",
    "erosion": "1 query pays",
    "renamed": "Its baseline was ir_baselines/test_search/test_search_quality[faq].json then.",
    "doctored": "ACCEPTED: golden/questions.yaml: mrr fell, by the golden set of then, from 0.9100 to 0.8650 (−0.0450)",
    "merge": "mrr 0.8560 → 0.8650: retriever +0.0090.",
    "dropped": "With those that left, at these scores, mrr would be 0.8650, not 0.9053.",
    "added": "Without those that were added, mrr is 0.9053, not 0.9250.",
    "unreviewed": "ACCEPTED: golden/questions.yaml: mrr fell from 0.8950 to 0.6700 (−0.2250)",
}
"""What `--ir-since` says of each kind of pull request in `tests/two_years.py`."""


def test_of_two_years_of_pull_requests_each_is_told_for_what_it_did(project, monkeypatch):
    isolate_git(monkeypatch)
    for name in ("conftest.py", "test_search.py", "golden/faq.yaml", "answers.json"):
        (project.path / name).unlink()
    requests = build(project.path)
    seen = set()
    for request in requests:
        if request.kind in seen or WORDS[request.kind] is None:
            continue
        seen.add(request.kind)
        git(project.path, "checkout", "-q", request.commit)
        result = project.run(f"--ir-since={request.base}")
        result.assert_outcomes(passed=1)
        assert WORDS[request.kind] in printed(result), request.kind
        assert ("ACCEPTED" in printed(result)) == (request.kind in ("doctored", "unreviewed"))


def test_a_tag_is_the_gate_on_slow_erosion(project, monkeypatch):
    isolate_git(monkeypatch)
    for name in ("conftest.py", "test_search.py", "golden/faq.yaml", "answers.json"):
        (project.path / name).unlink()
    requests = build(project.path)
    eroded = [request for request in requests if request.kind == "erosion"][-1]
    git(project.path, "checkout", "-q", eroded.commit)
    result = project.run("--ir-since=v1.0", "-o", "ir_accept=fail")
    result.assert_outcomes(failed=1)
    assert "mrr fell from" in printed(result)
