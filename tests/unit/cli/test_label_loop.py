"""Command `label --interactive`: what it shows, and what each key writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.golden import GoldenSet
from tests.unit.cli.console import HOSTILE, assert_escaped
from tests.unit.cli.test_label import FILE, GOLDEN, RUN, folder, store  # noqa: F401 - a fixture that all use
from tests.unit.cli.typed_keys import type_keys


@pytest.fixture
def loop(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    def loop(*typed, options=(), status=0, file=FILE):
        type_keys(monkeypatch, *typed)
        assert cli.main(["label", file, "--interactive", *options]) == status
        return capsys.readouterr().out

    return loop


def judged(query="refund"):
    return GoldenSet.load(FILE).queries[query].judgments


def edited(old, new):
    """Somebody else edits the golden set."""
    return lambda: Path(FILE).write_text(Path(FILE).read_text().replace(old, new))


def test_shows_what_helps_to_judge(loop):
    assert loop("q").splitlines() == [
        "3 documents to judge: 0 not relevant, 1 and more relevant, 2 best. Each grade goes into",
        "golden/faq.yaml at once.",
        "",
        "1 of 3  golden/faq.yaml:3: refund",
        "  query     refund policy",
        "  judged    1  d1",
        "  found     rank 1",
        "  document  u1",
        "0-2, s skip, u undo, q quit: q",
        "golden/faq.yaml: No judgment written. 3 left: the same command goes on with them.",
    ]
    assert Path(FILE).read_text() == GOLDEN


def test_a_key_gives_nine_at_most(loop):
    Path(FILE).write_text(GOLDEN.replace("{d9: 2}", "{d9: 10}"))
    assert "\n0-9, s skip," in loop("q")


def test_each_grade_is_written_at_once_where_it_belongs(loop):
    seen = []
    out = loop("0", lambda: seen.append(judged()), "2", lambda: seen.append(judged()), "1", "q")
    assert seen == [{"d1": 1, "u1": 0}, {"d1": 1, "u1": 0, "u2": 2}]
    assert judged("opening hours") == {"d9": 2, "0123": 1}
    assert "golden/faq.yaml:5: refund: u1 0\n" in out
    assert out.endswith("golden/faq.yaml: 3 judgments written.\n")
    assert Path(FILE).read_text() == GOLDEN.replace("[d1]  ", "{d1: 1, u1: 0, u2: 2}  ").replace(
        "{d9: 2}", '{d9: 2, "0123": 1}'
    )


def test_the_documents_of_a_query_come_together(loop):
    out = loop("s", "s", "s", "q")
    assert [line.partition(": ")[2] for line in out.splitlines() if " of 3 " in line] == [
        "refund",
        "refund",
        "opening hours",
    ]


def test_a_next_session_goes_on_with_what_is_left(loop):
    assert "1 judgment written, 1 skipped. 2 left: the same command goes on with them." in loop("1", "s", "q")
    assert "1 of 2  " in (out := loop("q"))
    assert "u1" not in out.partition("document")[2]


def test_what_the_limit_left_out_is_left(loop):
    assert loop("1", "q", options=("--limit", "1")).endswith(
        "golden/faq.yaml: 1 judgment written. 2 left: the same command goes on with them.\n"
    )


def test_undo_takes_back_one_after_the_other(loop):
    out = loop("1", "s", "2", "u", "u", "u", "u", "q")
    assert Path(FILE).read_text() == GOLDEN
    assert out.count("taken out: golden/faq.yaml:") == 2
    assert "  There is nothing to undo.\n" in out
    assert [line[:6] for line in out.splitlines() if " of 3 " in line] == [
        "1 of 3", "2 of 3", "3 of 3", "3 of 3", "2 of 3", "1 of 3"
    ]  # fmt: skip


def test_a_grade_that_was_undone_can_be_given_anew(loop):
    loop("1", "u", "0", "q")
    assert judged() == {"d1": 1, "u1": 0}


def test_the_last_grade_can_be_undone(loop):
    out = loop("1", "1", "2", "x", "u", "0", "q")
    assert judged("opening hours") == {"d9": 2, "0123": 0}
    assert out.count("That was the last one. u undo, q quit: ") == 3


def test_what_somebody_else_wrote_meanwhile_is_kept(loop):
    edit = edited("# by hand", "# by two hands")
    out = loop("1", edit, "2", "u", edited("relevant: {d9: 2}", "relevant: {d9: 2, other: 1}"), "u", "q")
    assert "taken out: golden/faq.yaml:5: refund: u2 2\n" in out
    assert (
        "  Somebody else has changed the file since. Take it out by hand: golden/faq.yaml:5: refund: u1 1\n"
        in out
    )
    assert judged() == {"d1": 1, "u1": 1}
    assert judged("opening hours") == {"d9": 2, "other": 1}
    assert Path(FILE).read_text().startswith("# by two hands\n")


def test_a_document_that_somebody_else_judged_meanwhile_is_passed_over(loop):
    out = loop(edited("[d1]", "[d1, u1]"), "0", edited("[d1, u1]", "[d1, u1, u2]"), "s", "q")
    assert "golden/faq.yaml:5: refund: u1 1 is there by now; passed over.\n" in out
    assert "2 of 3  golden/faq.yaml:3: refund\n" in out
    assert judged() == {"d1": 1, "u1": 1, "u2": 1}


def test_what_was_judged_meanwhile_is_named_by_its_place_after_an_undo_too(loop):
    Path(FILE).write_text(f"{GOLDEN}thresholds: {{freshness: 0.5}}\n")
    edit = edited("[d1]", "[d1, u1]")
    out = loop("s", edit, "1", "u", "u", "q", file=f"./{FILE}", options=("--metric", "freshness"))
    assert "taken out: ./golden/faq.yaml:5: refund: u2 1\n" in out
    assert "./golden/faq.yaml:5: refund: u1 1 is there by now; passed over.\n" in out


def test_a_query_that_went_meanwhile_is_passed_over(loop):
    out = loop("1", edited("query: opening hours", "query: closing hours"), "1", "q")
    assert "golden/faq.yaml: opening hours: is gone or asks something else by now; passed over.\n" in out
    assert out.endswith("golden/faq.yaml: 2 judgments written.\n")


def test_a_query_that_got_other_params_meanwhile_is_passed_over(loop):
    out = loop(
        edited("query: refund policy", "query: refund policy\n    params: {lang: de}"), "1", "1", "q", "q"
    )
    assert out.count("refund: is gone or asks something else by now; passed over.") == 2
    assert judged() == {"d1": 1}


def test_a_file_that_cannot_be_read_any_more_is_said_and_nothing_is_lost(loop):
    broken = edited("queries:", "queries: [")
    out = loop("1", broken, "1", edited("queries: [", "queries:"), "1", "q")
    assert "golden/faq.yaml:" in out
    assert judged() == {"d1": 1, "u1": 1, "u2": 1}
    gone = loop(lambda: Path(FILE).rename("away.yaml"), "1", lambda: Path("away.yaml").rename(FILE), "1", "q")
    assert "golden/faq.yaml: cannot be read: No such file or directory. Put it back.\n" in gone
    assert judged("opening hours") == {"d9": 2, "0123": 1}


def test_a_judgment_that_cannot_be_written_is_said_and_asked_again(loop):
    Path(FILE).write_text(GOLDEN.replace("[d1]  ", "&a [d1]  ") + "  - {query: third, relevant: *a}\n")
    out = loop("1", "s", "s", "1", "q")
    assert "`relevant` is shared by an anchor. Write it out here, and label again.\n" in out
    assert "1 judgment written, 2 skipped." in out


def test_other_keys_do_nothing(loop):
    out = loop("7", "x", "\n", "\0", "\u00bd", "\u0663", "q")
    assert out.count("  Press one of these keys.\n") == 5
    assert "  The highest grade of this golden set is 2; --scale 7 allows 7.\n" in out
    assert Path(FILE).read_text() == GOLDEN


def test_option_scale_sets_the_highest_grade(loop, capsys):
    assert "0-3, s skip, " in loop("3", "q", options=("--scale", "3"))
    assert judged()["u1"] == 3
    assert "0-1, s skip, " in loop("2", "q", options=("--scale", "1"))
    with pytest.raises(SystemExit):
        cli.main(["label", FILE, "-i", "--scale", "10"])
    assert "Write a number from 1 to 9." in capsys.readouterr().err


def test_option_scale_without_keys_is_an_error(capsys):
    assert cli.main(["label", FILE, "--scale", "3"]) == 1
    error = capsys.readouterr().err
    assert error == "--scale is for the keys of --interactive. Add it, or leave it out.\n"


def test_titles_and_texts_come_from_a_corpus(loop):
    Path("corpus.jsonl").write_text(
        json.dumps({"_id": "u1", "title": "Refunds abroad", "text": "We pay\nback.  " * 60})
        + '\n{"_id": "d1", "title": "Refunds"}\n'
    )
    out = loop("t", "s", "q", options=("--corpus", "corpus.jsonl"))
    assert "  judged    1  d1  Refunds\n" in out
    assert "  title     Refunds abroad\n  text      We pay back. We pay" in out
    first, _, rest = out.partition("0-2, s skip, u undo, t whole text, q quit: t\n")
    assert first.count("We pay back.") < 60
    assert first.endswith("\n            …\n")
    assert " ".join(rest.partition("0-2")[0].split()) == "text" + " We pay back." * 60
    assert "t whole" not in rest.partition("u undo")[2].partition("2 of 3")[2]


def test_ranks_are_named_after_their_runs(loop):
    Path("now.run").write_text("refund Q0 n1 1 2 x\nrefund Q0 d1 2 1 x\n")
    Path("old.run").write_text("refund Q0 d1 1 2 x\nrefund Q0 u2 2 1 x\n")
    out = loop("q", options=("--run", "now.run", "--run", "old.run"))
    assert "  found     rank 1 in now.run\n            not in old.run\n" in out


def test_texts_from_outside_are_inert(loop, folder):  # noqa: F811 - the fixture
    text = json.dumps(HOSTILE)
    (folder / FILE).write_text(
        f"queries:\n  - {{id: q, query: {text}, relevant: [d1, {text}], note: {text}, params: {{lang: {text}}}}}\n"
    )
    answer = {"id": "q", "text": HOSTILE, "params": {"lang": HOSTILE}, "rankings": [["d1", f"u{HOSTILE}"]]}
    run = {"format": "pytest-irmetrics run", "version": 1, "queries": [answer]}
    (folder / "hostile.json").write_text(json.dumps(run))
    (folder / "other.json").write_text(json.dumps(run))
    row = {"_id": f"u{HOSTILE}", "title": HOSTILE, "text": HOSTILE}
    (folder / "corpus.jsonl").write_text(json.dumps(row) + "\n")
    runs = ("--run", "hostile.json", "--run", "other.json", "--corpus", "corpus.jsonl")
    assert_escaped(out := loop("1", "u", "q", options=runs))
    assert out.count("31m") >= 6


def test_narrow_lines_are_wrapped(loop, monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    Path("corpus.csv").write_text("docid,title,text\nu1," + "日本語" * 30 + "," + "x" * 200 + " and words\n")
    out = loop("q", options=("--corpus", "corpus.csv"))
    from pytest_irmetrics.base.layout import display_width

    assert max(map(display_width, out.splitlines())) <= 44
    assert "".join(out.split()).count("日本語") == 30


def test_nothing_to_judge_is_said(loop, folder):  # noqa: F811 - the fixture
    store(folder, {"refund": ["d1"], "opening hours": ["d9"], "nothing": []})
    assert loop() == "golden/faq.yaml: 0 of the 2 returned documents that ndcg@10 looks at are not judged.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            [FILE, "-i"],
            "--interactive asks for keys, and standard input and output are no terminal. Judge with --out",
        ),
        (["-", "-i"], "-: --interactive takes keys from standard input. Name a file."),
        ([FILE, "-i", "--run", "-"], "-: --interactive takes keys from standard input. Name a file."),
        (["faq.csv", "-i"], "Judgments are appended to YAML alone."),
    ],
)
def test_where_no_key_can_be_asked_for_it_is_refused(capsys, arguments, words):
    Path("faq.csv").write_text("query,docid,rating\na,b,1\n")
    assert cli.main(["label", *arguments]) == 1
    assert words in capsys.readouterr().err
