"""`label` writes judgments into a YAML golden set: one value is changed, and every other byte stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet
from pytest_irmetrics.cli import main
from tests.golden.files import cli, content, judgments, write

SHAPES = yaml.safe_load(Path(__file__).with_name("edits.yaml").read_text("utf-8"))
HEAD = "# top\n\nqueries:\n"


def judge(text: str | bytes, documents: dict[str, float], query: str = "a") -> str:
    """Write a golden set, judge documents of a query by the command line, and return the file's text."""
    write("golden.yaml", text)
    arguments = [word for doc, grade in documents.items() for word in ("--judge", query, doc, f"{grade:g}")]
    assert main(["label", "golden.yaml", *arguments]) == 0
    assert documents.items() <= GoldenSet.load("golden.yaml").queries[query].judgments.items()
    return Path("golden.yaml").read_bytes().decode()


def refusal(capsys, text: str, *arguments: str) -> str:
    """Return why judgments of a golden set are refused, which stays as it is."""
    write("golden.yaml", HEAD + text)
    _, err = cli(capsys, "label", "golden.yaml", *arguments, status=1)
    assert Path("golden.yaml").read_text() == HEAD + text
    return "\n".join(err)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_judgment_is_written_where_it_belongs(capsys, shape):
    before, listed, graded = SHAPES[shape]
    assert judge(HEAD + before, {"c": 1}) == HEAD + listed
    if graded is None:
        said = refusal(capsys, before, "--judge", "a", "c", "0", "--judge", "a", "d", "2.5")
        assert "Write it as grades by hand, and add: c: 0, d: 2.5." in said
        return
    assert judge(HEAD + before, {"c": 0, "d": 2.5}) == HEAD + graded
    windows = (HEAD + before).replace("\n", "\r\n")
    assert judge(windows, {"c": 0, "d": 2.5}) == (HEAD + graded).replace("\n", "\r\n")


def test_a_byte_order_mark_is_kept():
    text = "\ufeffqueries: [{query: a, relevant: []}]"
    assert judge(text, {"c": 1, "d": 1}) == "\ufeffqueries: [{query: a, relevant: [c, d]}]"


def test_judgments_of_many_queries_change_one_line_each():
    text = HEAD + "".join(
        f"# {n}\n- id: q{n}\n  query: t{n}\n  relevant: [x{n}]\n  thresholds: {{mrr: 0.5}}\n"
        for n in range(20)
    )
    write("golden.yaml", text)
    added = {f"q{n}": {"c": n % 3} for n in range(0, 20, 2)}
    arguments = [word for query in added for word in ("--judge", query, "c", str(added[query]["c"]))]
    assert main(["label", "golden.yaml", *arguments]) == 0
    golden = GoldenSet.load("golden.yaml")
    assert {q: {"c": grades["c"]} for q, grades in judgments(golden).items() if "c" in grades} == added
    lines = zip(text.splitlines(), Path("golden.yaml").read_text().splitlines(), strict=True)
    assert sum(old != new for old, new in lines) == 10


def test_what_was_written_is_said_with_its_line(capsys):
    write("golden.yaml", HEAD + "- query: a\n  relevant:\n  - x\n")
    out, _ = cli(capsys, "label", "golden.yaml", "--judge", "a", "c", "1", "--judge", "a", "x", "1")
    assert out == ["golden.yaml:7: a: c 1", "golden.yaml: 1 judgment appended."]


IDS_WRITTEN = {
    **{text: f'"{text}"' for text in ("0123", "no", "1.10", "2024-01-01", "<<", "~", "1e5")},
    **{text: f"'{text}'" for text in ("a: b", "a:", "a,b", "...", '"')},
    **{text: text for text in ("é/ü", "a b", "doc_1/a.html")},
    "a\u2028b\x85": '"a\\Lb\\N"',
}


@pytest.mark.parametrize(("added", "written"), IDS_WRITTEN.items())
def test_ids_are_quoted_where_a_reader_would_take_them_for_something_else(added, written):
    assert judge(f"{HEAD}- query: a\n  relevant: [x]\n", {added: 1}).endswith(f", {written}]\n")
    assert judge(f"{HEAD}- query: a\n  relevant:\n  - x\n", {added: 1}).endswith(f"\n  - {written}\n")
    assert judge(f"{HEAD}- query: a\n  relevant: {{x: 1}}\n", {added: 1}).endswith(f", {written}: 1}}\n")


PASSAGES = """\
- query: a
  relevant:
    - {doc: handbook, text: thirty days, grade: 2}  # by text
    - doc: terms
      text: after purchase   # too
    - faq
"""
CODE = ["--passage", "a", "code", "no: refund", "2", "--passage", "a", "b", "x", "1"]


def test_passages_are_kept_and_added(capsys):
    assert judge(HEAD + PASSAGES, {"c": 1}) == HEAD + PASSAGES + "    - c\n"
    last = PASSAGES.replace("    - faq\n", "")
    assert judge(HEAD + last, {"c": 1}) == HEAD + last + "    - c\n"
    for before, added in (
        (PASSAGES, "    - {doc: code, text: 'no: refund', grade: 2}\n    - {doc: b, text: x, grade: 1}\n"),
        ("- {query: a, relevant: [x]}", ""),
        ("- {query: a, relevant: x}", ""),
    ):
        write("golden.yaml", HEAD + before)
        cli(capsys, "label", "golden.yaml", *CODE)
        golden = GoldenSet.load("golden.yaml")
        assert golden.queries["a"].judgments["code: no: refund"] == 2
        assert Path("golden.yaml").read_text() == HEAD + before + added or not added


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (
            "- query: a\n  no_answer: true\n",
            ["--judge", "a", "c", "2"],
            "'a' is to find nothing. If it has an answer, write `relevant` in place of `no_answer`, and label again.",
        ),
        (
            "- {query: a, relevant: &r [x]}\n- {query: b, relevant: *r}\n",
            ["--judge", "a", "c", "2"],
            "golden.yaml:4:3: `relevant` is shared by an anchor. Write it out here, and label again.",
        ),
        (
            "- {query: a, relevant: &r [x]}\n- {query: b, relevant: *r}\n",
            ["--judge", "b", "c", "2"],
            "anchor",
        ),
        (
            PASSAGES,
            ["--judge", "a", "c", "2"],
            "This query is judged by passage. Give the text that was read, too: --passage QUERY DOC TEXT GRADE, or a column text.",
        ),
        (PASSAGES, ["--judge", "a", "handbook", "1"], "and here by passage. Keep one"),
        (
            "- {query: a, relevant: {x: 2}}\n",
            CODE,
            "Write it as a list, and add: {doc: code, text: 'no: refund', grade: 2}, {doc: b",
        ),
        (
            "- {query: a, relevant: x}\n",
            ["--judge", "a", "x", "2"],
            "grades 'x' 1 already (golden.yaml:4), and here it is 2. Change it there, or leave it out here.",
        ),
        (
            "- {query: a, relevant: x}\n",
            ["--judge", "a", "y", "2", "--judge", "a", "y", "1"],
            "'a' grades 'y' 2 already (--judge a y 2), and here it is 1.",
        ),
        ("- {query: a, relevant: x, forbidden: y}\n", ["--judge", "a", "y", "1"], "'y' is forbidden"),
        ("- {query: a, relevant: x}\n", ["--judge", "a", "y" * 1200, "2"], "golden.yaml:1:1: The new"),
        (PASSAGES, ["--passage", "a", "code", "y" * 61 + "\udc80", "2"], "is no character"),
    ],
)
def test_what_cannot_be_written_is_refused_and_the_file_stays(capsys, text, arguments, words):
    assert words in refusal(capsys, text, *arguments)


IDS = st.one_of(
    st.sampled_from(
        [
            "x",
            "doc-1",
            "0123",
            "no",
            "a:b",
            "<<",
            "it's",
            '"',
            "#x",
            "é",
            "~",
            "*a",
            "&a",
            "{y}",
            "[z]",
            "a,b",
            "'q'",
            "%d",
            "@e",
            "!",
            "|",
            ">",
            "-",
        ]
    ),
    st.text(min_size=1, max_size=8).filter(lambda text: not set(text) & {"\x00", "\n", "\r"}),
).filter(
    lambda text: (
        not any(0xD800 <= ord(sign) < 0xE000 for sign in text) and text.strip() and not text.startswith("-")
    )
)
GRADES = st.sampled_from([0, 1, 2, 3, 0.5, 1000])


@given(
    judged=st.dictionaries(
        IDS.filter(str.isprintable), GRADES.filter(lambda grade: grade >= 1), min_size=1, max_size=4
    ),
    added=st.dictionaries(IDS, GRADES, min_size=1, max_size=3),
    listed=st.booleans(),
    block=st.booleans(),
    comment=st.booleans(),
)
def test_any_id_is_appended_and_nothing_else_changes_or_the_file_stays(judged, added, listed, block, comment):
    added = {doc_id: grade for doc_id, grade in added.items() if doc_id not in judged}
    if not added:
        return
    if listed:
        judged = dict.fromkeys(judged, 1)
    ends = "  # why, [x]: {y}\n" if comment and block else "\n" if block else ", "
    quoted = [
        json.dumps(doc_id, ensure_ascii=False) + ("" if listed else f": {grade}")
        for doc_id, grade in judged.items()
    ]
    entries = ends.join(("  - " if listed else "    ") * block + one for one in quoted) + ends * block
    inner = f"\n{entries}" if block else (" [%s]\n" if listed else " {%s}\n") % entries
    text = f"{HEAD}- query: a\n  relevant:{inner}  # after\n\n- {{query: b, relevant: z}}  # b\n"
    write("golden.yaml", text)
    before = content(GoldenSet.load("golden.yaml"))
    arguments = [word for doc, grade in added.items() for word in ("--judge", "a", doc, f"{grade:g}")]
    status = main(["label", "golden.yaml", *arguments])
    after = Path("golden.yaml").read_bytes().decode()
    if status:
        assert after == text
        assert listed
        assert "#" in entries
        return
    before["a"]["judgments"] |= added
    assert content(GoldenSet.load("golden.yaml")) == before
    assert after.count("# why") == text.count("# why")
    assert after.endswith("  # after\n\n- {query: b, relevant: z}  # b\n")
