"""Command `history`: the committed versions of a baseline, scored under today's golden set."""

from __future__ import annotations

import json
import re

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run
from tests.git_repository import git, isolate_git
from tests.unit.cli.console import HOSTILE, assert_escaped, run_script, usage_error

GOLDEN = """\
queries:
- {id: refund, query: refund policy, relevant: [d1], weight: 2}
- {id: hours, query: opening hours, relevant: [h1]}
- {id: hard, query: hard one, relevant: [x1], xfail: TICKET-7}
- {id: empty, query: asdf, no_answer: true}
"""
BASELINE = "ir_baselines/test_search/test_it[faq].json"


def answers(refund=("d1",), hours=("h1",), repeats=1, **more):
    return {
        "refund": Answer((tuple(refund),) * repeats, "refund policy", {}, {"d1": 1}, 2.0),
        "hours": Answer((tuple(hours),) * repeats, "opening hours", {}, {"h1": 1}, 1.0),
        "hard": Answer(((),) * repeats, "hard one", {}, {"x1": 1}, 1.0, xfail=True),
        "empty": Answer(((),) * repeats, "asdf", {}, {}, 1.0),
        **more,
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    isolate_git(monkeypatch)
    git(tmp_path, "init", "-q", "-b", "main", ".")
    (tmp_path / "faq.yaml").write_text(GOLDEN)
    return tmp_path


def commit(folder, subject, text=None, path=BASELINE, **changes):
    """Commit a baseline, with these answers unless its text is given."""
    if text is None:
        depth = changes.pop("depth", 10)
        text = Run.of(answers(**changes), depth, "faq.yaml", 1, {"mrr": 1.0}).dumps()
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


def history(capsys, *arguments, status=0):
    assert cli.main(["history", *arguments]) == status
    return capsys.readouterr()


def points(capsys, *arguments):
    out, _ = history(capsys, "--json", "--metrics", "mrr", *arguments)
    (test,) = json.loads(out)["tests"]
    return test["points"]


def test_prints_versions_newest_first_and_what_fell(capsys, folder):
    first = commit(folder, "Begin")
    commit(folder, "Reorder", hours=("z", "h1"))
    commit(folder, "Touch nothing that is measured", hours=("y", "h1"))
    commit(folder, "Break", hours=("z",))
    out, err = history(capsys, "--metrics", "mrr")
    assert err == ""
    lines = [
        re.sub(r"\b[0-9a-f]{10}\b", "COMMIT", re.sub(r"\d{4}-\d\d-\d\d", "DATE", line))
        for line in out.splitlines()
    ]
    assert lines == [
        "test_search.py::test_it[faq]",
        "  4 versions of its baseline, DATE to DATE, all scored under faq.yaml as it is today.",
        "",
        "  metric   first    best   today  from best  oldest to newest",
        "  mrr     1.0000  1.0000  0.6667    −0.3333  █▅▅▁",
        "  mrr was best in COMMIT (DATE, Begin): over the queries that both hold, today is −0.3333",
        "  from there.",
        "",
        "  date        commit      queries     mrr   change  subject",
        "  DATE  COMMIT        4  0.6667  −0.1667  Break",
        "  DATE  COMMIT        4  0.8333  −0.1667  Reorder",
        "  DATE  COMMIT        4  1.0000           Begin",
        "  1 more version (--limit 0 shows all)",
        "",
        "  2 versions lowered a mean. mrr: 2 lowered it, by 0.3333 together; none raised it.",
        "    DATE  COMMIT  mrr −0.1667  Reorder",
        "    DATE  COMMIT  mrr −0.1667  Break",
    ]
    assert first[:10] in out
    assert "Touch nothing" in history(capsys, "--limit", "0").out


def test_a_version_that_cannot_be_read_is_named_and_not_fatal(capsys, folder):
    whole = Run.of(answers(), 10, "faq.yaml", 1).dumps()
    commit(folder, "Begin")
    commit(folder, "Cut", whole[:100])
    commit(folder, "Merge badly", whole.replace('{"id": "hard"', '<<<<<<< HEAD\n{"id": "hard"'))
    commit(folder, "Come from the future", whole.replace('"version": 1', '"version": 9'))
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    commit(folder, "Keep it in LFS", pointer)
    commit(folder, "Ask for less", depth=5)
    commit(folder, "Delete what a test needs", "")
    (folder / BASELINE).unlink()
    git(folder, "commit", "-q", "-a", "-m", "Delete it")
    commit(folder, "Mend", hours=("z", "h1"))
    found = points(capsys)
    problems = {point["subject"]: point["problem"] for point in found}
    assert problems["Begin"] == problems["Mend"] == ""
    assert "cut short" in problems["Cut"]
    assert "conflict" in problems["Merge badly"]
    assert "version 9 of the format" in problems["Come from the future"]
    assert "Git LFS" in problems["Keep it in LFS"]
    assert problems["Ask for less"] == "it holds 5 results a query, fewer than today's 10"
    assert "empty" in problems["Delete what a test needs"]
    assert problems["Delete it"] == "the baseline was deleted"
    # What comes after is compared with the last that could be scored.
    assert found[-1]["changes"]["mrr"] == pytest.approx(-1 / 6)
    out, _ = history(capsys)
    assert "not scored: the baseline was deleted" in out


def test_the_page_plots_what_comes_after_a_version_that_cannot_be_read(capsys, folder):
    commit(folder, "Begin")
    commit(folder, "Cut", "{")
    commit(folder, "Mend", hours=("z", "h1"))
    history(capsys, "--metrics", "mrr", "--html", "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    plotted = re.findall(r"<title>\S+ [0-9a-f]+ (\w+): ([0-9.]+)", page)
    assert dict(plotted) == {"Begin": "1.0000", "Mend": "0.8333"}


def test_the_page_plots_the_lowest_mean_at_the_bottom_and_the_highest_at_the_top(capsys, folder):
    for subject, hours in (("One", ("h1",)), ("Two", ("z", "h1")), ("Three", ("z",))):
        commit(folder, subject, hours=hours)
    pytest.importorskip("jinja2")
    history(capsys, "--metrics", "mrr", "--html", "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    (line,) = re.findall(r'<polyline class="course" points="([^"]*)"', page)
    (left, top), (_, middle), (right, bottom) = [
        tuple(map(float, point.split(","))) for point in line.split()
    ]
    assert left < right
    assert top < bottom
    assert middle == pytest.approx((top + bottom) / 2)
    frame = r'<svg viewBox="0 0 720 140" .*?<line class="grid" x1="(.*?)" y1="(.*?)" x2="(.*?)".*?<line class="grid" .*? y1="(.*?)"'
    grid = re.search(frame, page, re.DOTALL).groups()
    assert [float(end) for end in grid] == [left, top, right, bottom]


def test_the_ten_that_cost_most_are_named_and_the_others_counted(capsys, folder):
    for rank in range(2, 14):
        commit(folder, f"Before {rank}", depth=20)
        commit(folder, f"Rank {rank}", hours=(*(f"z{n}" for n in range(1, rank)), "h1"), depth=20)
    out, _ = history(capsys, "--metrics", "mrr", "--limit", "1")
    *_, named = out.partition("12 versions lowered a mean.")
    assert re.findall(r"  Rank (\d+)$", named, re.MULTILINE) == [str(rank) for rank in range(13, 3, -1)]
    assert named.endswith("\n    and 2 more\n")


def test_the_best_version_is_named_by_the_metric_that_leads(capsys, folder):
    commit(folder, "Begin")
    commit(folder, "Break", hours=("z",))
    out, _ = history(capsys, "--metrics", "mrr,ndcg@10")
    assert [line.split()[0] for line in out.splitlines() if " was best in " in line] == ["ndcg@10"]


def test_a_baseline_that_is_not_committed_yet_is_the_newest_version(capsys, folder):
    commit(folder, "Begin")
    (folder / BASELINE).write_text(Run.of(answers(hours=("z",)), 10, "faq.yaml", 1).dumps())
    begin, now = points(capsys)
    assert (begin["subject"], now["commit"]) == ("Begin", "")
    assert now["changes"]["mrr"] == pytest.approx(-1 / 3)
    assert "not committed yet" in history(capsys).out
    other = folder / "ir_baselines/test_search/test_it[new].json"
    other.write_text((folder / BASELINE).read_text())
    (only,) = points(capsys, "[new]")
    assert only["subject"] == "not committed yet"


def test_a_merged_branch_is_one_commit(capsys, folder):
    commit(folder, "Begin")
    git(folder, "checkout", "-q", "-b", "topic")
    commit(folder, "Try", refund=("z", "d1"))
    commit(folder, "Try again", refund=("z", "d1"), hours=("z", "h1"))
    git(folder, "checkout", "-q", "main")
    git(folder, "merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    begin, merge = points(capsys)
    assert (begin["subject"], merge["subject"]) == ("Begin", "Merge topic")
    assert merge["changes"]["mrr"] == pytest.approx(-0.5)


def test_edits_of_queries_and_judgments_are_told_and_move_nothing_else(capsys, folder):
    commit(folder, "Begin", old=Answer((("z",),), "old", {}, {"o1": 1}, 1.0))
    commit(folder, "Reword", old=Answer((("o1",),), "older", {}, {"o1": 1}, 1.0))
    commit(folder, "Relabel", refund=("z", "d1"), old=Answer((("o1",),), "older", {}, {"q": 1}, 1.0))
    commit(folder, "Drop")
    by_subject = {point["subject"]: point for point in points(capsys)}
    assert by_subject["Reword"]["reworded"] == ["old"]
    assert by_subject["Reword"]["changes"]["mrr"] == 0
    relabel = by_subject["Relabel"]
    assert relabel["relabelled"] == ["old"]
    # By what it was judged last, `old` never found anything.
    assert relabel["changes"]["mrr"] == pytest.approx(-1 / 4)
    assert relabel["as_judged_before"]["mrr"] == pytest.approx(-1 / 4)
    assert by_subject["Drop"]["dropped"] == ["old"]
    assert by_subject["Drop"]["dropped_means"]["mrr"] == 0
    assert by_subject["Drop"]["changes"]["mrr"] == pytest.approx(1 / 3)


def test_a_fall_within_what_differs_from_run_to_run_lowers_nothing(capsys, folder):
    some = [("d1",), ("z", "d1"), ("d1",), ("z", "d1")]
    noisy = {"refund": Answer(tuple(some), "refund policy", {}, {"d1": 1}, 2.0)}
    worse = {"refund": Answer((*some[1:], some[1]), "refund policy", {}, {"d1": 1}, 2.0)}
    commit(folder, "Begin", Run.of({**answers(repeats=4), **noisy}, 10, "faq.yaml", 1).dumps())
    commit(folder, "Ask again", Run.of({**answers(repeats=4), **worse}, 10, "faq.yaml", 1).dumps())
    _, again = points(capsys)
    assert again["changes"]["mrr"] < 0
    assert again["margins"]["mrr"] > -again["changes"]["mrr"]
    assert again["lowered"] == {}


def test_without_a_golden_set_the_newest_judgments_stand_for_it(capsys, folder):
    commit(folder, "Begin", hours=("z", "h1"))
    (folder / "faq.yaml").write_text("queries: [")
    out, _ = history(capsys)
    assert (
        "note: The golden set cannot be read, so all is scored under the judgments of the newest version."
        in " ".join(out.split())
    )
    assert re.search(r"(?m)^  note: The .*\n    \S", out)
    (folder / "faq.yaml").unlink()
    (point,) = points(capsys)
    assert point["means"]["mrr"] == pytest.approx(2.5 / 3)


def test_since_a_commit_whose_baseline_is_damaged(capsys, folder):
    commit(folder, "Damage", "{")
    git(folder, "tag", "v0")
    commit(folder, "Begin")
    assert f"{BASELINE} in v0:1: the file was cut short." in " ".join(
        history(capsys, "--since", "v0").out.split()
    )


def test_since_a_commit_that_has_no_baseline_or_does_not_exist(capsys, folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Nothing yet")
    git(folder, "tag", "v0")
    commit(folder, "Begin")
    assert "v0 holds no baseline of this test" in history(capsys, "--since", "v0").out
    assert "no commit v9" in history(capsys, "--since", "v9", status=1).err


def test_chooses_tests_by_id_part_or_path(capsys, folder):
    commit(folder, "Begin")
    commit(folder, "More", path="ir_baselines/test_search/test_it[other].json")
    assert history(capsys).out.count("1 version of its baseline") == 2
    for wanted in ("test_search.py::test_it[faq]", "[faq]", BASELINE, f"./{BASELINE}"):
        assert "[other]" not in history(capsys, wanted).out
    err = history(capsys, "test_that", status=1).err
    assert "No baseline from here on down is of a test 'test_that'" in err
    assert "test_search.py::test_it[faq]" in err


def test_what_is_no_ground_for_a_history(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "There is no folder ir_baselines with baselines" in history(capsys, status=1).err
    (tmp_path / BASELINE).parent.mkdir(parents=True)
    (tmp_path / BASELINE).write_text(Run.of(answers(), 10).dumps())
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "Git" in history(capsys, status=1).err
    assert "is no count" in usage_error(capsys, "history", "--limit", "many")


def test_todays_baseline_that_cannot_be_read_fails_and_the_others_are_shown(capsys, folder):
    commit(folder, "Begin")
    commit(folder, "Break another", "{", path="ir_baselines/test_search/test_it[broken].json")
    out, err = history(capsys, status=1)
    assert "cut short" in err
    assert "test_it[faq]" in out


def test_a_shallow_clone_says_that_it_is_one(capsys, folder, tmp_path_factory, monkeypatch):
    commit(folder, "Begin")
    commit(folder, "Reorder", hours=("z", "h1"))
    clone = tmp_path_factory.mktemp("clone")
    git(clone, "clone", "-q", "--depth", "1", f"file://{folder}", ".")
    monkeypatch.chdir(clone)
    assert "note: This clone is shallow" in history(capsys).out


def test_hostile_subjects_and_ids_are_escaped_and_the_page_is_safe(capsys, folder):
    subject = HOSTILE.replace("\r\n", " ").replace("\x9b", "")
    commit(folder, "Begin")
    commit(
        folder,
        f"<script>alert(1)</script> {subject}",
        hours=("z",),
        **{HOSTILE: Answer((("z",),), "t", {}, {"z": 1}, 1.0)},
    )
    out, _ = history(capsys, "--since", "HEAD~1")
    assert_escaped(out)
    assert_escaped(history(capsys, "--json").out)
    pytest.importorskip("jinja2")
    history(capsys, "--html", "page.html", "--since", "HEAD~1")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_page_says_first_how_far_it_is_from_its_best(capsys, folder):
    pytest.importorskip("jinja2")
    commit(folder, "Begin")
    history(capsys, "--html", "page.html")
    assert "ndcg@10 is at its best." in (folder / "page.html").read_text(encoding="utf-8")
    commit(folder, "Break", hours=("z",))
    history(capsys, "--html", "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    top = page[page.index("<header") : page.index("</header>")]
    best = git(folder, "rev-parse", "HEAD~1")
    assert f"below its best, of commit {best[:10]}, over the queries that both hold." in top
    assert '<dd class="bad">1</dd>' in top
    assert 'class="fell"' in page


def test_prints_in_ascii(folder):
    commit(folder, "Begin")
    commit(folder, "Größer", hours=("z",))
    done = run_script("history", encoding="ascii")
    assert done.returncode == 0, done.stderr
    assert b"@" in done.stdout


def test_the_page_alone_goes_to_standard_output(capsysbinary, folder):
    pytest.importorskip("jinja2")
    commit(folder, "Begin")
    assert cli.main(["history", "--html", "-"]) == 0
    out = capsysbinary.readouterr().out
    assert out.startswith(b"<!doctype html>")
    assert out.rstrip().endswith(b"</html>")


def test_tests_below_the_repositorys_top_and_in_a_repository_of_their_own(capsys, folder, monkeypatch):
    top = "services/search/tests"
    (folder / top).mkdir(parents=True)
    (folder / "faq.yaml").rename(folder / top / "faq.yaml")
    commit(folder, "Begin", path=f"{top}/{BASELINE}")
    commit(folder, "Reorder", path=f"{top}/{BASELINE}", hours=("z", "h1"))
    inner = folder / "services" / "vendored"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main", ".")
    commit(inner, "Vendor", path=f"tests/{BASELINE}")
    for here, count in ((folder, 2), (folder / top, 1)):
        monkeypatch.chdir(here)
        out, _ = history(capsys, "--json")
        tests = json.loads(out)["tests"]
        assert len(tests) == count
        assert [point["subject"] for point in tests[0]["points"]] == ["Begin", "Reorder"]
    assert tests[0]["golden_set"] == "faq.yaml as it is today"
    monkeypatch.chdir(folder)
    vendored = json.loads(history(capsys, "--json", "vendored").out)["tests"][0]
    assert [point["subject"] for point in vendored["points"]] == ["Vendor"]


def test_an_answer_to_other_words_is_not_one_to_todays_query(capsys, folder):
    before = {**answers(), "refund": Answer((("z", "d1"),), "return policy", {}, {"z": 1}, 2.0)}
    commit(folder, "Begin", Run.of(before, 10, "faq.yaml", 1).dumps())
    commit(folder, "Reword")
    begin, reword = points(capsys)
    assert (begin["query_count"], begin["n"], reword["n"]) == (4, 3, 4)
    assert begin["means"]["mrr"] == 1.0  # of hours alone
    assert reword["reworded"] == ["refund"]


def test_the_best_version_is_that_which_todays_is_furthest_below_over_the_queries_of_both(capsys, folder):
    few = {query_id: answer for query_id, answer in answers().items() if query_id != "hours"}
    commit(folder, "Ask little", Run.of(few, 10, "faq.yaml", 1).dumps())
    commit(folder, "Ask more", hours=("z", "h1"))
    (test,) = json.loads(history(capsys, "--json", "--metrics", "mrr").out)["tests"]
    (summary,) = test["summary"]
    # The first mean is higher, and over the query that both hold nothing has been lost.
    assert summary["line"] == [1.0, pytest.approx(2.5 / 3)]
    assert (summary["best_commit"], summary["from_best"]) == ("", 0.0)
    assert "was best in" not in history(capsys).out
    commit(folder, "Fall", hours=("z", "y", "h1"))
    (test,) = json.loads(history(capsys, "--json", "--metrics", "mrr").out)["tests"]
    (summary,) = test["summary"]
    assert summary["best_commit"] == test["points"][1]["commit"]
    assert summary["from_best"] == pytest.approx(-1 / 18)


def test_the_page_of_a_test_whose_queries_are_all_excluded(capsys, folder):
    commit(folder, "Begin")
    excluded = "queries:\n- {id: refund, query: refund policy, relevant: [d1], xfail: T-1}\n"
    (folder / "faq.yaml").write_text(excluded)
    history(capsys, "--html", "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "its best" not in page
