"""Whatever the bytes of a YAML file, there is a golden set, or an error with a place in every line."""

from __future__ import annotations

import random
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_irmetrics.golden import GoldenSet, GoldenSetError
from tests.reached import often, reached
from tests.unit.golden.golden_files import FULL, damaged

SIGNS = list(
    b"[]{}:,-?!&*#|>'\"%@`<\\ \n\t\r~\x00\x85\xe2\x80\xa8\xef\xbb\xbf\xc2" + string.printable.encode()
)
PIECES = [
    b"<<: ", b"*a", b"&a ", b"!!str ", b"---\n", b"...\n", b"%TAG ! x\n", b"queries:", b"relevant:", b"- ", b"? ", b": ",
    b"\\ud800", b'"', b"'", b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"<<<<<<< ", b"\r\n", b"{", b"[", b"1e999",
    b"x-a: &a [b]\n", b"true", b"0", b"-1", b".nan", b"thresholds: {mrr: 2}\n",
]  # fmt: skip


def mutated(data: bytes, source: random.Random) -> bytes:
    """Change some bytes, as a slip of the editor, a bad merge or malice would."""
    buffer = bytearray(data)
    for _ in range(source.randint(1, 6)):
        at = source.randrange(len(buffer) + 1)
        kind = source.randrange(6)
        if kind == 0 and at < len(buffer):
            buffer[at] = source.choice(SIGNS)
        elif kind == 1:
            buffer[at:at] = bytes([source.choice(SIGNS)])
        elif kind == 2:
            del buffer[at : at + source.randint(1, 12)]
        elif kind == 3:
            buffer[at:at] = source.choice(PIECES)
        elif kind == 4:
            length = source.randint(1, 40)
            start = source.randrange(len(buffer) + 1)
            buffer[at:at] = buffer[start : start + length]
        elif kind == 5:
            buffer[at:at] = b"\n" + b" " * source.randrange(8)
    return bytes(buffer)


SEEDS = [
    FULL.encode(),
    b"x-common: &docs [a, b]\nqueries:\n- {query: &t hello, relevant: *docs, tags: [t]}\n- {id: *t, relevant: {c: 1}}\n",
    b'{"queries": [{"query": "a\\u00e9", "relevant": {"b": 2}, "params": {"c": [1.5, null, {"d": "e"}]}}]}',
    b"queries:\n- {query: a, relevant: [b, {doc: c, text: d e, grade: 2}, {doc: c, text: ' f\\n g'}], forbidden: [h]}\n",
    "queries:\n- query: |\n    zwei\n    Zeilen ä\n  relevant:\n  - 'it''s'\n  - \"\\x41\"\n".encode(),
]


def check_file(path, data: bytes) -> None:
    path.write_bytes(data)
    golden, problems = None, ()
    try:
        golden = GoldenSet.load(path, shown="f.yaml")
    except GoldenSetError as error:
        problems = error.problems
    if not reached(golden is not None):
        assert problems
        for problem in problems:
            assert problem.line is not None
            assert problem.column is not None
            assert 1 <= problem.line <= data.count(b"\n") + data.count(b"\r") + 2
            assert problem.column >= 1
            assert "\n" not in problem.message
            assert len(problem.message) < 600
    else:
        for query_ in golden.queries.values():
            for doc_id in query_.judgments:
                golden.locate(query_.id, doc_id)


def test_files_with_changed_bytes(tmp_path, parser):
    source = random.Random(5)
    for _ in range(1000 if parser == "libyaml" else 200):
        check_file(tmp_path / "f.yaml", mutated(source.choice(SEEDS), source))


@often(0.05)
@given(data=st.binary(max_size=8) | damaged(SEEDS, "{}[]:,'\"&*!|>#- \n") | damaged(SEEDS, "01.~@%x"))
@settings(max_examples=100, deadline=None)
def test_any_bytes(tmp_path_factory, data):
    check_file(tmp_path_factory.getbasetemp() / "f.yaml", data)


@often(0.05)
@given(text=st.text(max_size=60) | st.text("abc é#:-'\"{}", max_size=12))
@settings(max_examples=100, deadline=None)
def test_any_text_in_a_query(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "f.yaml"
    check_file(path, f"queries:\n- query: {text}\n  relevant: [{text}]\n".encode("utf-8", "surrogatepass"))
