"""Command `label`: judgments by passage, appended to a golden set."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.golden import GoldenSet

FILE = "faq.yaml"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def label(capsys, *arguments, status=0):
    assert cli.main(["label", FILE, *arguments]) == status
    return capsys.readouterr()


@pytest.mark.parametrize(
    ("relevant", "after"),
    [
        (" d1   # the page\n", ' [d1, {doc: handbook, text: "thirty: days", grade: 2}]   # the page\n'),
        (" x[1],y\n", ' ["x[1],y", {doc: handbook, text: "thirty: days", grade: 2}]\n'),
        (" 'x[1]'\n", " ['x[1]', {doc: handbook, text: \"thirty: days\", grade: 2}]\n"),
        (" [d1]\n", ' [d1, {doc: handbook, text: "thirty: days", grade: 2}]\n'),
        (
            " [{doc: d1, text: x}]\n",
            ' [{doc: d1, text: x}, {doc: handbook, text: "thirty: days", grade: 2}]\n',
        ),
        (
            "\n      - d1   # the page\n",
            '\n      - d1   # the page\n      - {doc: handbook, text: "thirty: days", grade: 2}\n',
        ),
        (
            "\n      - doc: d1\n        text: x\n",
            '\n      - doc: d1\n        text: x\n      - {doc: handbook, text: "thirty: days", grade: 2}\n',
        ),
    ],
)
def test_a_passage_is_written_where_it_belongs(capsys, relevant, after):
    head, tail = "# by hand\nqueries:\n  - id: q\n    query: how long\n    relevant:", "    tags: [a]\n"
    Path(FILE).write_text(head + relevant + tail)
    out, err = label(capsys, "--passage", "q", "handbook", "thirty: days", "2")
    assert err == ""
    assert out.endswith(": q: handbook: thirty: days 2\nfaq.yaml: 1 judgment appended.\n")
    assert Path(FILE).read_text() == head + after + tail
    (passage,) = [one for one in GoldenSet.load(FILE).queries["q"].passages if one.doc == "handbook"]
    assert (passage.text, passage.grade) == ("thirty: days", 2)


def test_several_passages_and_what_looks_like_an_option(capsys):
    Path(FILE).write_text("queries:\n  - {query: q, relevant: [d1]}\n")
    label(capsys, "--passage", "q", "h", "--no", "0", "--passage", "q", "h", 'say "\u00e9"\n twice', "1")
    passages = GoldenSet.load(FILE).queries["q"].passages
    assert [(one.text, one.grade) for one in passages] == [("--no", 0), ('say "\u00e9"\n twice', 1)]


@pytest.mark.parametrize(
    ("relevant", "given", "words"),
    [
        ("{d1: 1}", ["q", "h", "t", "1"], "`relevant` is a mapping, which holds documents alone."),
        (
            "[d1]",
            ["q", "d1", "t", "1"],
            "'q' judges 'd1' as a whole (faq.yaml:2), and here by passage. Keep one of the two.",
        ),
        ("[{doc: h, text: t}]", ["q", "h", " t ", "2"], "'q' grades 'h: t' 1 already (faq.yaml:2)"),
        ("[d1]", ["q", "h", "  ", "2"], "The document's id or the text is empty."),
        ("[d1]", ["q", "h", "t", "x"], "'x' is no grade."),
        ("[d1]", ["none", "h", "t", "1"], "There is no query 'none'"),
    ],
)
def test_what_cannot_be_appended_changes_nothing(capsys, relevant, given, words):
    text = f"queries:\n  - {{query: q, relevant: {relevant}}}\n"
    Path(FILE).write_text(text)
    assert words in label(capsys, "--passage", *given, status=1).err
    assert Path(FILE).read_text() == text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            ["--judge", "q", "h", "1"],
            "'q' judges 'h' by passage (faq.yaml:4), and here as a whole. Keep one of the two.",
        ),
        (
            ["--judge", "q", "a b", "2"],
            "in it has grade 1. Judge a text of 'a b' instead: `pytest-irmetrics label faq.yaml --passage q 'a b' TEXT 2`.",
        ),
    ],
)
def test_a_document_that_a_list_of_passages_has_no_place_for_changes_nothing(capsys, given, words):
    text = "queries:\n  - query: q\n    relevant:\n      - {doc: h, text: t, grade: 2}\n"
    Path(FILE).write_text(text)
    assert words in label(capsys, *given, status=1).err
    assert Path(FILE).read_text() == text
