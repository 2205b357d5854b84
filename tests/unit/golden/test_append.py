from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics.golden import GoldenSetError, yaml_nodes
from pytest_irmetrics.golden import append as editing
from pytest_irmetrics.golden import write_yaml as yaml_writer
from pytest_irmetrics.golden.append import append_judgments
from pytest_irmetrics.golden.yaml import parse_yaml

HEAD = "# top\n\nqueries:\n"
PATH = Path("golden.yaml")


def appended(text: str, documents: dict[str, float], query: str = "a", head: str = HEAD) -> str:
    data, golden = append_judgments((head + text).encode(), {query: documents}, PATH, "golden.yaml")
    assert documents.items() <= golden.queries[query].judgments.items()
    assert data.startswith(head.encode())
    return data.decode().removeprefix(head)


def refusal(text: str, documents: dict[str, float], query: str = "a") -> str:
    with pytest.raises(GoldenSetError) as caught:
        append_judgments((HEAD + text).encode(), {query: documents}, PATH, "golden.yaml")
    return str(caught.value)


@pytest.fixture(params=["CBaseLoader", "BaseLoader"])
def parser(request, monkeypatch):
    """Both of PyYAML's parsers: the second is what there is without libyaml."""
    for room in (yaml_nodes, editing):
        monkeypatch.setattr(room, "PARSER", getattr(yaml, request.param))


SHAPES = {
    "one id": (
        "  - query: a  # q\n    relevant: doc-1  # the one\n\n    tags: [x]\n",
        "  - query: a  # q\n    relevant: [doc-1, c]  # the one\n\n    tags: [x]\n",
        "  - query: a  # q\n    relevant: {doc-1: 1, c: 0, d: 2.5}  # the one\n\n    tags: [x]\n",
    ),
    "one id below its key": (
        "- query: a\n  relevant:\n    'doc 1'\n",
        "- query: a\n  relevant:\n    ['doc 1', 'c']\n",
        "- query: a\n  relevant:\n    {'doc 1': 1, 'c': 0, 'd': 2.5}\n",
    ),
    "one id in a line for all": (
        "- {query: a, relevant: x, tags: [t]} # end\n- {query: b, relevant: y}",
        "- {query: a, relevant: [x, c], tags: [t]} # end\n- {query: b, relevant: y}",
        "- {query: a, relevant: {x: 1, c: 0, d: 2.5}, tags: [t]} # end\n- {query: b, relevant: y}",
    ),
    "one id over two lines": (
        "- query: a\n  relevant: 'one\n   two'\n",
        "- query: a\n  relevant: [\"one two\", 'c']\n",
        "- query: a\n  relevant: {\"one two\": 1, 'c': 0, 'd': 2.5}\n",
    ),
    "one id that a list would split": (
        "- query: a\n  relevant: x[1]\n",
        '- query: a\n  relevant: ["x[1]", c]\n',
        '- query: a\n  relevant: {"x[1]": 1, c: 0, d: 2.5}\n',
    ),
    "flow list": (
        "- query: a\n  relevant: [ 'x 1' ,y,] # why\n",
        "- query: a\n  relevant: [ 'x 1' ,y, c,] # why\n",
        "- query: a\n  relevant: { 'x 1': 1 ,y: 1, c: 0, d: 2.5,} # why\n",
    ),
    "flow list without blanks": (
        "- query: a\n  relevant: [x]",
        "- query: a\n  relevant: [x, c]",
        "- query: a\n  relevant: {x: 1, c: 0, d: 2.5}",
    ),
    "flow list of a line an id": (
        "- query: a\n  relevant: [\n      x,   # ex\n      y    # why\n    ]\n  tags: [t]\n",
        "- query: a\n  relevant: [\n      x,   # ex\n      y,    # why\n      c\n    ]\n  tags: [t]\n",
        "- query: a\n  relevant: {\n      x: 1,   # ex\n      y: 1,    # why\n      c: 0,\n      d: 2.5\n    }\n  tags: [t]\n",
    ),
    "flow list with a last comma": (
        "- query: a\n  relevant: [\n    x,   # ex\n    y,\n  ]\n",
        "- query: a\n  relevant: [\n    x,   # ex\n    y,\n    c,\n  ]\n",
        "- query: a\n  relevant: {\n    x: 1,   # ex\n    y: 1,\n    c: 0,\n    d: 2.5,\n  }\n",
    ),
    "flow list that wraps": (
        "- query: a\n  relevant: [x,\n    y, z]\n",
        "- query: a\n  relevant: [x,\n    y, z, c]\n",
        "- query: a\n  relevant: {x: 1,\n    y: 1, z: 1, c: 0, d: 2.5}\n",
    ),
    "block list": (
        "- query: a\n  relevant:\n    - x  # ex\n    # between\n    -   y z\n    # after\n\n- {query: b, relevant: c}\n",
        "- query: a\n  relevant:\n    - x  # ex\n    # between\n    -   y z\n    - c\n    # after\n\n- {query: b, relevant: c}\n",
        "- query: a\n  relevant:\n      x: 1  # ex\n    # between\n      y z: 1\n      c: 0\n      d: 2.5\n    # after\n\n- {query: b, relevant: c}\n",
    ),
    "block list as far out as its key": (
        "- query: a\n  relevant:\n  - x\n  - '<<'\n  - \"y\"\n  tags: [t]",
        "- query: a\n  relevant:\n  - x\n  - '<<'\n  - \"y\"\n  - c\n  tags: [t]",
        "- query: a\n  relevant:\n    x: 1\n    '<<': 1\n    \"y\": 1\n    c: 0\n    d: 2.5\n  tags: [t]",
    ),
    "flow mapping": (
        "- query: a\n  relevant: {x: 3, y: 0} # why\n",
        "- query: a\n  relevant: {x: 3, y: 0, c: 1} # why\n",
        "- query: a\n  relevant: {x: 3, y: 0, c: 0, d: 2.5} # why\n",
    ),
    "flow mapping of a line an id": (
        "- query: a\n  relevant: {\n    x: 3,\n    y: 0 }\n",
        "- query: a\n  relevant: {\n    x: 3,\n    y: 0, c: 1 }\n",
        "- query: a\n  relevant: {\n    x: 3,\n    y: 0, c: 0, d: 2.5 }\n",
    ),
    "block mapping": (
        "- query: a\n  relevant:\n    x: 3 # ex\n\n    # more\n    y: 0   # why\n\n  tags: [t]\n",
        "- query: a\n  relevant:\n    x: 3 # ex\n\n    # more\n    y: 0   # why\n    c: 1\n\n  tags: [t]\n",
        "- query: a\n  relevant:\n    x: 3 # ex\n\n    # more\n    y: 0   # why\n    c: 0\n    d: 2.5\n\n  tags: [t]\n",
    ),
    "block mapping without a last line end": (
        "- query: a\n  relevant:\n    x: 3",
        "- query: a\n  relevant:\n    x: 3\n    c: 1",
        "- query: a\n  relevant:\n    x: 3\n    c: 0\n    d: 2.5",
    ),
}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("shape", SHAPES)
class TestShapes:
    def test_appends_relevant_documents(self, shape):
        before, listed, _ = SHAPES[shape]
        assert appended(before, {"c": 1}) == listed

    def test_appends_grades(self, shape):
        before, _, graded = SHAPES[shape]
        assert appended(before, {"c": 0, "d": 2.5}) == graded

    def test_windows_line_endings_are_kept(self, shape):
        before, _, graded = SHAPES[shape]
        head = HEAD.replace("\n", "\r\n")
        windows = appended(before.replace("\n", "\r\n"), {"c": 0, "d": 2.5}, head=head)
        assert windows == graded.replace("\n", "\r\n")


def test_a_byte_order_mark_is_kept():
    data, _ = append_judgments(
        b"\xef\xbb\xbfqueries: [{query: a, relevant: x}]", {"a": {"c": 1}}, PATH, "x.yaml"
    )
    assert data == b"\xef\xbb\xbfqueries: [{query: a, relevant: [x, c]}]"


def test_appends_to_many_queries_at_once():
    text = "".join(
        f"# {n}\n- id: q{n}\n  query: t{n}\n  relevant: [x{n}]\n  thresholds: {{mrr: 0.5}}\n"
        for n in range(50)
    )
    added = {f"q{n}": {"c": n % 3} for n in range(0, 50, 2)}
    data, golden = append_judgments((HEAD + text).encode(), added, PATH, "x.yaml")
    assert {q.id: q.judgments["c"] for q in golden.queries.values() if "c" in q.judgments} == {
        q: d["c"] for q, d in added.items()
    }
    changed = [
        old != new for old, new in zip((HEAD + text).splitlines(), data.decode().splitlines(), strict=True)
    ]
    assert sum(changed) == 25


@pytest.mark.parametrize(
    ("beside", "added", "written"),
    [
        ("x", "0123", '"0123"'),
        ("x", "no", '"no"'),
        ("x", "1.10", '"1.10"'),
        ("x", "2024-01-01", '"2024-01-01"'),
        ("x", "a: b", '"a: b"'),
        ("x", "a b", '"a b"'),
        ("x", "a:", '"a:"'),
        ("x", "-x", '"-x"'),
        ("x", "<<", '"<<"'),
        ("x", "...", '"..."'),
        ("x", '"', '"\\""'),
        ("x", "é/ü", "é/ü"),
        ("x", "https://a.example/b?c=1", '"https://a.example/b?c=1"'),
        ("x", "doc:1", "doc:1"),
        ("x", "a\u2028b\x85", '"a\\u2028b\\u0085"'),
        ("0123", "0456", "0456"),
        ("12", "no", "no"),
        ("'x'", "it's", "'it''s'"),
        ("'x'", "a\nb", '"a\\nb"'),
        ('"x"', "y", '"y"'),
    ],
)
def test_ids_are_quoted_like_those_beside_them_or_where_needed(beside, added, written):
    assert appended(f"- query: a\n  relevant: [{beside}]\n", {added: 1}).endswith(f", {written}]\n")
    assert appended(f"- query: a\n  relevant:\n  - {beside}\n", {added: 1}).endswith(f"\n  - {written}\n")
    assert appended(f"- query: a\n  relevant: {{{beside}: 1}}\n", {added: 1}).endswith(f", {written}: 1}}\n")


PASSAGES = """\
- query: a
  relevant:
    - {doc: handbook, text: thirty days, grade: 2}  # by text
    - doc: terms
      text: after purchase   # too
    - faq
"""


@pytest.mark.usefixtures("parser")
def test_passages_are_kept():
    assert appended(PASSAGES, {"c": 1}) == PASSAGES + "    - c\n"
    last = PASSAGES.replace("    - faq\n", "")
    assert appended(last, {"c": 1}) == last + "    - c\n"
    assert "golden.yaml:6:5: This list holds passages" in refusal(PASSAGES, {"c": 2})
    assert "'handbook' is judged as a whole" in refusal(PASSAGES, {"handbook": 1})


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "query", "words"),
    [
        ("- query: a\n  no_answer: true\n", "a", "4:3: 'a' is a `no_answer` query"),
        ("- {query: a, relevant: &r [x]}\n- {query: b, relevant: *r}\n", "a", "4:24: `relevant` is shared"),
        ("- {query: a, relevant: &r [x]}\n- {query: b, relevant: *r}\n", "b", "5:24: `relevant` is shared"),
        ("- query: a\n  relevant:\n  - |\n    x\n", "a", "6:3: `relevant` has a block of text in it"),
        ("- query: a\n  relevant: >-\n    x\n", "a", "5:13: `relevant` has a block of text in it"),
        ("- query: a\n  relevant:\n  -\n    x\n", "a", "7:5: An id is not on the line of its `-`"),
        ("- query: a\n  ? relevant\n  : ? x\n    : 1\n- *b\n", "a", "refers to no anchor"),
    ],
)
def test_reports_what_cannot_be_appended_to(text, query, words):
    assert words in refusal(text, {"c": 2}, query)


def test_refuses_a_key_that_yaml_cannot_hold():
    said = refusal("- query: a\n  relevant: [x]\n", {"y" * 1200: 2})
    assert "With the new judgments this could not be read" in said
    assert "Nothing was written; append them by hand." in said


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        ("relevant: y", "relevant: x", "b"),
        ("tags: [t]", "tags: [u]", "b"),
        ("mrr: 0.5", "mrr: 0.6", "b"),
        ("ndcg: 0.5", "ndcg: 0.6", "thresholds"),
        ("name: n", "name: m", "name"),
        ("relevance_level: 1", "relevance_level: 0.5", "relevance_level"),
        ("query: b", "query: e", "queries"),
        ("d]", "d, e]", "a"),
        ("[x, d]", "[x]", "a"),
    ],
)
def test_refuses_an_edit_that_changes_anything_else(monkeypatch, old, new, first):
    """Whatever mistake the editor may make."""
    head = "name: n\nrelevance_level: 1\nthresholds: {ndcg: 0.5}\n"
    text = (
        head
        + "queries:\n- {query: a, relevant: [x]}\n- {query: b, relevant: y, tags: [t], thresholds: {mrr: 0.5}}\n"
    )
    wrong = text.replace("[x]", "[x, d]").replace(old, new)
    monkeypatch.setattr(editing._Editor, "edited", lambda *_: wrong)
    with pytest.raises(GoldenSetError, match=f"would change more than they should, first '{first}'"):
        append_judgments(text.encode(), {"a": {"d": 1}}, PATH, "x.yaml")


IDS = st.one_of(
    st.sampled_from(
        ["x", "doc-1", "0123", "no", "a: b", "<<", "it's", '"', "#x", "a #b", "é", "~", "", "*a", "&a", "- a"]
    ),
    st.text(min_size=1, max_size=8),
).filter(lambda text: text and not any(0xD800 <= ord(sign) < 0xE000 for sign in text))
GRADES = st.sampled_from([0, 1, 2, 3, 0.5, 1000])


@settings(max_examples=300, deadline=None)
@given(
    judged=st.dictionaries(IDS, GRADES.filter(lambda grade: grade >= 1), min_size=1, max_size=4),
    added=st.dictionaries(IDS, GRADES, min_size=1, max_size=3),
    listed=st.booleans(),
    block=st.booleans(),
)
def test_appends_any_id_and_changes_nothing_else(judged, added, listed, block):
    added = {doc_id: grade for doc_id, grade in added.items() if doc_id not in judged}
    written = {doc_id: yaml_writer.double_quoted(doc_id) for doc_id in judged}
    sign = "  # why, [x]: {y}\n"
    if listed:
        judged = dict.fromkeys(judged, 1)
        entries = [f"  - {text}{sign}" if block else text for text in written.values()]
    else:
        entries = [
            f"    {written[doc_id]}: {grade}{sign}" if block else f"{written[doc_id]}: {grade}"
            for doc_id, grade in judged.items()
        ]
    inner = "\n" + "".join(entries) if block else (" [%s]\n" if listed else " {%s}\n") % ", ".join(entries)
    text = f"{HEAD}- query: a\n  relevant:{inner}  # after\n\n- {{query: b, relevant: z}}  # b\n"
    before = parse_yaml(text.encode(), PATH, "x.yaml").queries
    data, after = append_judgments(text.encode(), {"a": added}, PATH, "x.yaml")
    assert after.queries["a"].judgments == {**judged, **added} == {**before["a"].judgments, **added}
    assert after.queries["b"].judgments == {"z": 1}
    assert data.decode().count("# why") == text.count("# why")
    assert data.decode().endswith("  # after\n\n- {query: b, relevant: z}  # b\n")


def test_an_id_is_written_plain_where_one_like_it_is():
    text = b"queries:\n- query: a\n  relevant: [0123, doc-1]\n- query: b\n  relevant: [doc-1, doc-2]\n"
    data, after = append_judgments(text, {"a": {"0456": 1}, "b": {"0456": 1}}, PATH, "x.yaml")
    assert b"[0123, doc-1, 0456]" in data
    assert b'[doc-1, doc-2, "0456"]' in data
    assert after.queries["a"].judgments["0456"] == after.queries["b"].judgments["0456"] == 1
