"""Command `history`: the committed versions of a baseline, scored under today's golden set."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from tests.cli.console import HOSTILE, assert_harmless, run
from tests.git_repository import git, isolate_git, needs_git, new_repository, write_and_commit

pytestmark = needs_git

GOLDEN = """\
queries:
- {id: refund, query: refund policy, relevant: [d1], weight: 2}
- {id: hours, query: opening hours, relevant: [h1]}
- {id: hard, query: hard one, relevant: [x1], xfail: TICKET-7}
- {id: empty, query: asdf, no_answer: true}
"""
BASELINE = "ir_baselines/test_search/test_it[faq].json"
BROKEN = "ir_baselines/test_search/test_that[broken].json"


def answer(query_id, text, judgments, *rankings, **more):
    asked = {"id": query_id, "text": text, "judgments": judgments, "weight": 1.0}
    return {**asked, "rankings": rankings or [[]], **more}


def stored(*more, refund="d1", hours="h1", depth=10, golden_set="faq.yaml", without=()):
    """A baseline, in which `refund` and `hours` were answered with these documents."""
    queries = [
        answer("refund", "refund policy", {"d1": 1}, refund.split(), weight=2.0),
        answer("hours", "opening hours", {"h1": 1}, hours.split()),
        answer("hard", "hard one", {"x1": 1}, xfail=True),
        answer("empty", "asdf", {}),
    ]
    by_id = {one["id"]: one for one in [*queries, *more] if one["id"] not in without}
    header = {"format": "pytest-irmetrics run", "version": 1, "golden_set": golden_set, "depth": depth}
    in_order = [by_id[query_id] for query_id in sorted(by_id)]
    return json.dumps({**header, "relevance_level": 1, "queries": in_order})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    isolate_git(monkeypatch)
    monkeypatch.setenv("COLUMNS", "100")
    new_repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "faq.yaml").write_text(GOLDEN)
    return tmp_path


def commit(folder, *versions, path=BASELINE):
    """Commit these versions of a baseline, each with its subject."""
    for subject, text in versions:
        write_and_commit(folder, {path: text}, subject)


def history(*arguments, status=0):
    done = run("history", *arguments)
    assert done.status == status, done.err
    return done


def the_test(*arguments):
    (test,) = json.loads(history("--json", "--metrics", "mrr", *arguments).out)["tests"]
    return test


def points(*arguments):
    return the_test(*arguments)["points"]


FALL = [
    ("Begin", stored()),
    ("Reorder", stored(hours="z h1")),
    ("Touch nothing", stored(hours="y h1")),
    ("Break", stored(hours="z")),
]


def test_metrics_with_a_threshold_over_the_whole_set_are_shown_and_lead(folder):
    commit(folder, ("Begin", stored()))
    limits = "thresholds: {recall@5: 0.5, overlap@3: 0.5}\nslices: {t: {precision@1: 0.5}}\n"
    (folder / "faq.yaml").write_text(limits + GOLDEN.replace("weight: 2", "weight: 2, tags: [t]"))
    (test,) = json.loads(history("--json").out)["tests"]
    assert test["leading"] == "recall@5"
    named = ["mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10", "no_answer", "recall@5"]
    assert list(test["points"][0]["means"]) == named
    (test,) = json.loads(history("--json", "--metrics", "judged@5").out)["tests"]
    assert test["leading"] == "judged@5"


def test_versions_are_listed_newest_first_with_what_fell(folder):
    commit(folder, *FALL)
    printed = re.sub(
        r"\b[0-9a-f]{10}\b", "COMMIT", re.sub(r"\d{4}-\d\d-\d\d", "DATE", history("--metrics", "mrr").out)
    )
    assert printed.splitlines() == [
        "test_search.py::test_it[faq]",
        "4 versions of its baseline, DATE to DATE, all scored under faq.yaml as it is today.",
        "",
        "metric   first   today  from best  oldest to newest",
        "mrr     1.0000  0.6667    −0.3333  █▅▅▁",
        "mrr was best in COMMIT (DATE, Begin): over the queries that both hold, today is −0.3333",
        "  from there.",
        "",
        "date        commit      queries     mrr   change           subject",
        "DATE  COMMIT        3  0.6667  −0.1667  lowered  Break",
        "DATE  COMMIT        3  0.8333   0.0000           Touch nothing",
        "DATE  COMMIT        3  0.8333  −0.1667  lowered  Reorder",
        "DATE  COMMIT        3  1.0000                    Begin",
        "2 versions lowered mrr, by 0.3333 together.",
    ]
    assert "2 more versions (--limit 0 shows all)" in history("--limit", "2").out
    begun = git(folder, "rev-parse", "HEAD~3")[:10]
    assert begun in history().out
    since = " ".join(history("--since", begun).out.split())
    assert "−0.3333" in since
    for metrics in (["--metrics", "mrr,ndcg@10"], []):
        best = [line for line in history(*metrics).out.splitlines() if " was best in " in line]
        assert [line.split()[0] for line in best] == ["ndcg@10"]
    assert "lowered mrr −0.1667" in history("--metrics", "recall@10,mrr").out
    assert b"@" in run("history", encoding="ascii").data


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
UNREADABLE = [
    (stored()[:100], "cut short"),
    (stored().replace('{"id": "hard"', '\n<<<<<<< HEAD\n{"id": "hard"'), "conflict"),
    (stored().replace('"version": 1', '"version": 9'), "version 9 of the format"),
    (POINTER, "Git LFS"),
    (
        stored().replace('"depth": 10, ', ""),
        "it holds an unknown number of results a query, fewer than today's 10",
    ),
    (stored(depth=5), "it holds 5 results a query, fewer than today's 10"),
    ("", "empty"),
    (None, "holds no baseline of this test"),
]


def test_of_more_than_forty_versions_each_sign_is_the_last_of_several(folder):
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {n} +0000\ndata 1\nc\nM 644 inline {BASELINE}\ndata {len(text)}\n{text}\n"
        for n in range(42)
        for text in [stored(refund="x" if n in (19, 41) else "d1", hours=f"h1 y{n}")]
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream.encode(), check=True)
    git(folder, "reset", "--quiet", "--hard")
    assert f" {'█' * 39}▁\n" in history().out


def test_a_version_that_cannot_be_read_is_named_and_the_next_compared_with_the_last_that_could(folder):
    commit(folder, ("Begin", stored()))
    for number, (text, _) in enumerate(UNREADABLE):
        if text is None:
            git(folder, "rm", "-q", BASELINE)
            git(folder, "commit", "-q", "-m", str(number))
        else:
            commit(folder, (str(number), text))
    commit(folder, ("Mend", stored(hours="z h1")))
    begin, *unread, mend = points()
    assert (begin["problem"], mend["problem"]) == ("", "")
    for point, (_, told) in zip(unread, UNREADABLE, strict=True):
        assert told in point["problem"]
        assert "git checkout" not in point["problem"]
    assert mend["changes"]["mrr"] == pytest.approx(-1 / 6)
    assert " holds no baseline of this test" in history().out
    commit(folder, ("Break another", "{"), path=BROKEN)
    done = history(status=1)
    assert "cut short" in done.err
    assert "test_it[faq]" in done.out


def test_what_is_not_committed_yet_is_the_newest_version_and_a_merged_branch_is_one(folder):
    commit(folder, ("Begin", stored()))
    git(folder, "checkout", "-q", "-b", "topic")
    commit(folder, ("Try", stored(refund="z d1")), ("Try again", stored(refund="z d1", hours="z h1")))
    git(folder, "checkout", "-q", "main")
    git(folder, "merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    (folder / BASELINE).write_text(stored(hours="z", refund="z d1"))
    begin, merge, now = points()
    assert [point["subject"] for point in (begin, merge)] == ["Begin", "Merge topic"]
    assert (merge["changes"]["mrr"], now["changes"]["mrr"]) == pytest.approx((-0.5, -1 / 6))
    assert now["commit"] == ""
    assert "not committed yet" in history().out


def test_edits_of_queries_and_judgments_are_told_and_move_nothing_else(folder):
    old = [
        answer("old", "old", {"o1": 1}, ["z"]),
        answer("old", "older", {"o1": 1}, ["o1"]),
        answer("old", "Older", {"q": 1}, ["o1"]),  # in other case, which is no other question
    ]
    commit(
        folder,
        ("Begin", stored(old[0])),
        ("Reword", stored(old[1])),
        ("Relabel", stored(old[2], refund="z d1")),
        ("Drop", stored()),
    )
    _, reword, relabel, drop = points()
    assert (reword["reworded"], reword["changes"]["mrr"]) == (["old"], 0)
    assert (relabel["relabelled"], relabel["reworded"]) == (["old"], [])
    # Changes are over today's queries, of which `old` is none.
    assert (relabel["changes"]["mrr"], relabel["as_judged_before"]) == (pytest.approx(-1 / 3), {})
    assert drop["dropped"] == ["old"]
    assert drop["changes"]["mrr"] == pytest.approx(1 / 3)


def test_an_answer_to_other_words_is_not_one_to_todays_query(folder):
    other = answer("refund", "return policy", {"z": 1}, ["z", "d1"], weight=2.0)
    commit(folder, ("Begin", stored(other)), ("Reword", stored()))
    begin, reword = points()
    assert begin["query_count"] == 3
    assert begin["means"]["mrr"] == 1.0  # of hours alone
    assert reword["reworded"] == ["refund"]


def test_a_fall_in_the_commit_that_renumbers_queries_is_told_and_they_are_not_called_reworded(folder):
    renumbered = stored().replace('"hours"', '"q3"').replace('"refund"', '"hours"')
    commit(folder, ("Begin", renumbered), ("Renumber", stored(refund="z")))
    test = the_test("--since", "HEAD~1")
    for told in (test["points"][1], test["since"]):
        assert told["lowered"] == told["changes"] == {"mrr": pytest.approx(-2 / 3)}
        assert [told[key] for key in ("added", "dropped", "reworded", "relabelled")] == [[], [], [], []]


@pytest.mark.parametrize("hours", ["z", " ".join(map(str, range(400)))])  # Git knows the first to be renamed
@pytest.mark.parametrize("old", ["test_it[help]", "test_that[faq]"])
def test_a_baseline_that_one_commit_renamed_and_rewrote_is_followed(folder, old, hours):
    commit(folder, ("Another", stored(without=["hours"], golden_set="other.yaml")), path=BROKEN)
    commit(folder, ("Begin", stored()), path=BASELINE.replace("test_it[faq]", old))
    git(folder, "rm", "-qr", "ir_baselines")
    commit(folder, ("Rename", stored(hours=hours)))
    assert [point["changes"] for point in points()] == [{}, {"mrr": pytest.approx(-1 / 3)}]


def test_a_fall_within_what_differs_from_run_to_run_lowers_nothing(folder):
    some = [["d1"], ["z", "d1"], ["d1"], ["z", "d1"]]
    before, after = (
        answer("refund", "refund policy", {"d1": 1}, *rankings, weight=2.0)
        for rankings in (some, [*some[1:], some[1]])
    )
    rest = [
        answer("hours", "opening hours", {"h1": 1}, *[["h1"]] * 4),
        answer("hard", "hard one", {"x1": 1}, *[[]] * 4),
        answer("empty", "asdf", {}, *[[]] * 4),
    ]
    commit(folder, ("Begin", stored(before, *rest)), ("Ask again", stored(after, *rest)))
    _, again = points()
    assert again["changes"]["mrr"] < 0
    assert again["lowered"] == {}


def test_the_best_version_is_that_which_todays_is_furthest_below_over_the_queries_of_both(folder):
    commit(folder, ("Ask little", stored(without=["hours"])), ("Ask more", stored(hours="z h1")))
    # The first mean is higher, and over the query that both hold nothing has been lost.
    assert [point["means"]["mrr"] for point in points()] == [1.0, pytest.approx(2.5 / 3)]
    assert [point["until_today"]["mrr"] for point in points()] == [0.0, 0.0]
    assert "was best in" not in history().out
    commit(folder, ("Fall", stored(hours="z y h1")))
    assert points()[1]["until_today"]["mrr"] == pytest.approx(-1 / 18)
    assert f"mrr was best in {points()[1]['commit'][:10]}" in history("--metrics", "mrr").out


def test_without_a_golden_set_the_newest_judgments_stand_for_it(folder):
    later = answer("later", "nobody judged it", {}, ["z"], unjudged=True)
    asked = answer("asked", "refund policy", {"d1": 1}, ["z", "d1"], params={"lang": "no"})
    begun = stored(later, asked, hours="z h1")
    commit(folder, ("Begin", begun))
    (folder / "faq.yaml").write_text("queries: [")
    assert "faq.yaml:2:1: " in history(status=1).err
    (folder / "faq.yaml").unlink()
    for version in (begun, begun.replace('"golden_set": "faq.yaml", ', "")):
        (folder / BASELINE).write_text(version)
        assert points()[0]["means"]["mrr"] == pytest.approx(3 / 4)
        assert points("--metrics", "no_answer")[0]["means"]["no_answer"] == 1.0  # of `empty`, not of `later`
        assert "all scored under the judgments of the newest version." in history().out


def test_added_and_dropped_queries_are_in_order_and_a_metric_that_leaves_all_out_moved_nowhere(folder):
    more = [answer(name, name, {"d": 1}, ["d"]) for name in "zyabcx"]
    commit(folder, ("Begin", stored(refund="z", hours="z")), ("Add", stored(*more)), ("Drop", stored()))
    _, add, drop = points("--metrics", "mrr,mrr(miss=skip)")
    assert (add["added"], drop["dropped"]) == ([*"abcxyz"], [*"abcxyz"])
    assert (add["changes"], drop["changes"]) == ({"mrr": 1.0}, {"mrr": 0.0, "mrr(miss=skip)": 0.0})


def test_tests_are_chosen_by_id_part_or_path(folder):
    commit(folder, ("Begin", stored()))
    commit(folder, ("More", stored()), path="ir_baselines/test_search/test_it[o_ther]_22a51336.json")
    assert history().out.count("1 version of its baseline") == 2
    for wanted in (f"{folder.name}/test_search.py::test_it[faq]", "[faq]", BASELINE, f"./{BASELINE}"):
        assert "[o_ther]" not in history(wanted).out
    assert "[faq]" not in history("test_search.py::test_it[o/ther]").out
    assert "test_search.py::test_it[faq]" in history("test_that", status=1).err


def test_since_a_commit_whose_baseline_is_damaged_or_missing(folder):
    write_and_commit(folder, {"x": ""}, "Nothing yet")
    git(folder, "tag", "v0")
    commit(folder, ("Damage", "{"))
    git(folder, "tag", "v1")
    commit(folder, ("Begin", stored()))
    assert "v0 holds no baseline of this test" in history("--since", "v0").out
    damaged = " ".join(history("--since", "v1").out.split())
    assert f"{BASELINE} in v1:1: the file was cut short" in damaged
    assert "that both hold: ." not in damaged
    assert "no commit v9" in history("--since", "v9", status=1).err


def test_what_is_no_ground_for_a_history(folder, tmp_path_factory, monkeypatch):
    told = "There is no folder ir_baselines with baselines from here on down. Go to the tests, or store a baseline"
    assert history(status=1).err == f"{told} (pytest --ir-baseline-update).\n"
    commit(folder, ("Begin", stored()), ("Reorder", stored(hours="z h1")))
    shallow = "is too shallow for recall@99. Name other --metrics."
    assert shallow in history("--metrics", "recall@99", status=1).err
    said = ".json: by itself gives no overlap@10. Name other --metrics.\n"
    assert history("--metrics", "overlap@10", status=1).err.endswith(said)
    left_out = "Left out, as the baseline holds 10 results a query: recall@99."
    assert left_out in history("--metrics", "recall@99,mrr").out
    both = history("--json", "--html", "x.html", status=2).err
    assert "argument --html: not allowed with argument --json" in both
    for limit in ("many", "-1"):
        assert "is no count. Write a whole number; 0 shows all" in history(f"--limit={limit}", status=2).err
    shallow, outside = (tmp_path_factory.mktemp(name) for name in ("shallow", "outside"))
    git(shallow, "clone", "-q", "--depth", "1", f"file://{folder}", ".")
    monkeypatch.chdir(shallow)
    told = "note: This clone is shallow: older commits are not in it. `git fetch --unshallow` fetches them."
    assert told in " ".join(history().out.split())
    (outside / BASELINE).parent.mkdir(parents=True)
    (outside / BASELINE).write_text(stored())
    monkeypatch.chdir(outside)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(outside.parent))
    assert "Git" in history(status=1).err


def test_a_repository_that_cannot_be_read_or_is_empty_stops_none_but_its_own(folder):
    commit(folder, ("Begin", stored()))
    for name in ("empty", "damaged"):
        inner = new_repository(folder / name)
        (inner / BASELINE).parent.mkdir(parents=True)
        (inner / BASELINE).write_text(stored())
    assert "1 version of its baseline, all scored" in history("empty").out
    commit(inner, ("Begin", stored(hours="z h1")))
    for one in (inner / ".git" / "objects").glob("??/*"):
        one.unlink()
    done = history(status=1)
    assert done.out.count("1 version of its baseline") == 2
    assert "damaged" in done.err
    assert "no commit yet" not in done.err + history("--since", "HEAD", "damaged", status=1).err


def test_tests_below_the_repositorys_top_and_in_a_repository_of_their_own(folder, monkeypatch):
    top = "services/search/tests"
    (folder / top).mkdir(parents=True)
    (folder / "faq.yaml").rename(folder / top / "faq.yaml")
    commit(folder, ("Begin", stored()), ("Reorder", stored(hours="z h1")), path=f"{top}/{BASELINE}")
    inner = new_repository(folder / "services" / "vendored")
    commit(inner, ("Vendor", stored()), path=f"tests/{BASELINE}")
    assert [point["subject"] for point in points("vendored")] == ["Vendor"]
    monkeypatch.chdir(folder / top)
    test = the_test()
    assert [point["subject"] for point in test["points"]] == ["Begin", "Reorder"]
    assert test["golden_set"] == "faq.yaml as it is today"


@pytest.mark.parametrize("path", ["test_search.py", "html:test_search.py", "faq.yaml", BASELINE])
def test_the_page_is_not_written_over_a_file_that_is_none(folder, path):
    commit(folder, ("One", stored()))
    (folder / "test_search.py").write_text("def test_search(): pass\n")
    file = folder / path.removeprefix("html:")
    before = file.read_bytes()
    assert "a file is there that is no such report" in history("--html", path, status=1).err
    assert file.read_bytes() == before


def test_the_page_plots_what_can_be_read_and_says_how_far_it_is_from_its_best(folder):
    commit(folder, ("One", stored()))
    history("--html", "page.html")
    assert "was best in" not in (folder / "page.html").read_text(encoding="utf-8")
    commit(folder, ("Cut", "{"), ("Two", stored(hours="z h1")), ("Three", stored(hours="z")))
    page = history("--html", "-", "--metrics", "mrr").out
    assert page.startswith("<!doctype html>")
    plotted = dict(re.findall(r"<title>\S+ [0-9a-f]+ (\w+): ([0-9.]+)", page))
    assert plotted == {"One": "1.0000", "Two": "0.8333", "Three": "0.6667"}
    (way,) = re.findall(r'<path class="way" d="([^"]*)"', page)
    one, two, three = (float(point) for point in re.findall(r"[ML][\d.]+ ([\d.]+)", way))
    assert one < three  # downwards
    assert two == pytest.approx((one + three) / 2)
    assert f"mrr was best in {git(folder, 'rev-parse', 'HEAD~3')[:10]} (" in page
    excluded = "queries:\n- {id: refund, query: refund policy, relevant: [d1], xfail: T-1}\n"
    (folder / "faq.yaml").write_text(excluded)
    assert "was best in" not in history("--html", "-").out


@pytest.mark.parametrize(("refund", "hours"), [("z y x d1", "h1"), ("z", "z h1")])
def test_a_line_that_rises_or_is_level_has_no_mark_of_a_fall(folder, refund, hours):
    # A query that is answered well comes in when the other one falls.
    commit(folder, ("Begin", stored(refund="z y d1", without=["hours"])))
    commit(folder, ("Ask more", stored(refund=refund)), ("Fall", stored(refund="z", hours=hours)))
    means = [point["means"]["mrr"] for point in points()]
    assert (means[0] == means[1]) == (refund == "z")
    assert means[0] <= means[1] > means[2]
    assert "mrr" in points()[1]["lowered"]
    page = history("--html", "-", "--metrics", "mrr").out
    kinds = re.findall(r'<path class="(\w+)" [^>]*><title>\S+ \w+ ([\w ]+):', page)
    assert kinds == [("best", "Begin"), ("dot", "Ask more"), ("fell", "Fall")]


def test_hostile_subjects_and_ids_are_harmless(folder):
    subject = f"<script>alert(1)</script> {HOSTILE}".replace("\r\n", " ").replace("\x9b", "")
    commit(folder, ("Begin", stored()), (subject, stored(answer(HOSTILE, "t", {"z": 1}, ["z"]), hours="z")))
    for options in (["--since", "HEAD~1"], ["--json"]):
        assert_harmless(history(*options).out)
    page = history("--html", "-", "--since", "HEAD~1").out
    assert "<script" not in page
    assert "&lt;script&gt;" in page
