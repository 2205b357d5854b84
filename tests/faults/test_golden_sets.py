"""Golden sets that are refused: `check` names every problem at its place, whatever the file holds.

The rows are in golden_sets.yaml. What is hostile by its size is made here.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet, GoldenSetError
from pytest_irmetrics.cli import main
from tests.golden.files import cli, forms, target_of, write
from tests.reached import often, reached

SECTIONS = yaml.safe_load(Path(__file__).with_suffix("").with_name("golden_sets.yaml").read_text("utf-8"))
ROWS = [(name, text, expected) for name, section in SECTIONS.items() for text, *expected in section["rows"]]
WITHOUT_LIBYAML = "import sys, yaml; vars(yaml).pop('CBaseLoader', None); from pytest_irmetrics.cli import main; main(sys.argv[1:])"
QUERY = "queries:\n- {query: a, relevant: b}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working directory of each test, so that files go by their names alone."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(section: str, text: str, folder: str = "") -> str:
    """Write the files of a row; return what is to be checked. The row's lines are indented as its place in the file is."""
    layout = SECTIONS[section]
    before, _, after = layout["text"].partition("{}")
    indent = before.rpartition("\n")[2]
    write(
        folder + layout["file"],
        before + text.replace("\n", "\n" + " " * len(indent) * indent.isspace()) + after,
    )
    for name, other in layout.get("beside", {}).items():
        write(folder + name, other)
    return folder + layout.get("check", layout["file"])


def are_expected(lines: list[str], expected: list[str], file: str) -> None:
    """Assert that these are the expected problems, each with its place, its words and what to do."""
    assert len(lines) == len(expected), lines
    for line, (place, _, words) in zip(lines, (one.partition(" ") for one in expected), strict=True):
        at = f"{file}:{place}" if place[0].isdigit() else place
        in_lines = "yaml" not in file and "This is no JSON" not in line and words != "NUL"
        assert line.startswith(f"{at}: " if at.count(":") > 1 else f"{at}:{'1: ' if in_lines else ''}"), line
        assert line.endswith(words) if words.endswith(".") else words in line
        message = re.sub(r"^.*?:\d+:\d+: ", "", line)
        assert ". " in message or "must be in quotes" in message, "what to do is not said"
        assert not {"token", "scalar"} & {*message.split()}


def refused(capsys, name: str, text: str | bytes | None = None) -> list[str]:
    """Return what `check` prints of a golden set that it refuses."""
    if text is not None:
        write(name, text)
    assert main(["check", name]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


@pytest.mark.parametrize(("section", "text", "expected"), ROWS, ids=lambda value: repr(value)[:40])
def test_every_problem_is_named_at_its_place(capsys, section, text, expected):
    name = written(section, text)
    are_expected(refused(capsys, name), expected, name)


def test_the_parser_in_python_finds_the_same():
    """It stands in where PyYAML has no libyaml."""
    rows = [row for row in ROWS if SECTIONS[row[0]]["file"] == "faq.yaml"]
    names = [written(section, text, f"{n}/") for n, (section, text, _) in enumerate(rows)]
    command = [sys.executable, "-c", WITHOUT_LIBYAML, "check", *names]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stderr == ""
    for name, (_, _, expected) in zip(names, rows, strict=True):
        are_expected(
            [line for line in found.stdout.splitlines() if line.startswith(f"{name}:")], expected, name
        )


# Hostile YAML --------------------------------------------------------------------------------------------------

LOL = ["x-0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
LOL += [f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
MERGED = ["x-0: &a0 {k: 1}"]
MERGED += [f"x-{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
DEEP_ALIASES = ["x-0: &a0 [1]", *(f"x-{n}: &a{n} [[[[[[[[*a{n - 1}]]]]]]]]" for n in range(1, 6))]
MOST_ALIASED = f"x-a: &a [{'a' * 99_998}]\nx-b: [{'*a, ' * 10}]\n"
HOSTILE = {
    "flow lists": ("queries: " + "[" * 100_000, "Lists and mappings are more than 30 deep here. Write them less deep."),
    "flow lists, a line each": ("queries: " + "[\n" * 100_000, "deep"),
    "flow mappings": ("queries: " + "{a: " * 100_000, "deep"),
    "flow mappings, a line each": ("queries: " + "{a:\n" * 100_000, "deep"),
    "lists in params": ("queries: [{params: " + "[" * 1000, "deep"),
    "block lists": ("queries:\n- " + "- " * 100_000, "deep"),
    "keys of queries": ("queries:\n  ? " + "? " * 100_000, "deep"),
    "keys": ("? " * 100_000, "deep"),
    "block mappings": ("".join(" " * depth + "x-a:\n" for depth in range(1000)), "deep"),
    "mappings in params": ("queries:\n- params:\n" + "".join(" " * (n + 4) + "a:\n" for n in range(1000)), "deep"),
    "depth through aliases": ("\n".join(DEEP_ALIASES), "5: deep"),
    "aliases that multiply": ("\n".join(LOL), "6: The aliases up to here stand for too much text. Write it out."),
    "merge keys that multiply": ("\n".join(MERGED), "too much text"),
    "aliases of a long text": (f"{MOST_ALIASED}x-c: &b ''\nx-d: *b\n", "4: too much text"),
    "tag directives": ("%TAG !a! b\n" * 100_000, "1:1: `%TAG`"),
    "list below the depth": (f"{QUERY}x-deep: {'[' * 31}", "3: deep"),
    "alias below the depth": (f"x-a: &a {'[1, ' * 29}1{']' * 29}\nx-b: [[*a]]\n{QUERY}", "2: deep"),
    "a long name of a metric": (f"thresholds: {{{'a' * 300}: 1}}\n{QUERY}", "1:14: …"),
    "a long grade": (f"queries: [{{query: a, relevant: {{b: {'9' * 5000}}}}}]", "1:36: Write a number"),
    "a long key": (f"{'a' * 300}: 1\n{QUERY}", "1:1: not a key"),
}  # fmt: skip


@pytest.mark.parametrize("parser", ["libyaml", "python"])
def test_hostile_yaml_is_refused_at_once(capsys, parser):
    for n, (text, _) in enumerate(HOSTILE.values()):
        write(f"{n}.yaml", text)
    names = [f"{n}.yaml" for n in range(len(HOSTILE))]
    if parser == "libyaml":
        assert main(["check", *names]) == 1
        out, _ = capsys.readouterr()
    else:
        command = [sys.executable, "-c", WITHOUT_LIBYAML, "check", *names]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = out.splitlines()
    for name, (_, expected) in zip(names, HOSTILE.values(), strict=True):
        (line,) = [line for line in lines if line.startswith(f"{name}:")]
        place, colon, words = expected.rpartition(": ")
        assert line.startswith(f"{name}:{place}{colon.strip()}"), line
        assert words in line
        assert len(line) < 400


def test_the_greatest_depth_and_the_most_aliases_are_read():
    write("faq.yaml", f"{QUERY}x-deep: {'[' * 30}{']' * 30}\n")
    assert main(["check", "faq.yaml"]) == 0
    write("faq.yaml", f"x-a: &a {'[1, ' * 29}1{']' * 29}\nx-b: [*a]\n{QUERY}")
    assert main(["check", "faq.yaml"]) == 0
    write("faq.yaml", MOST_ALIASED + QUERY)
    write("faq.jsonl", f'{{"query": "a", "relevant": "b", "x-deep": {"[" * 30}{"]" * 30}}}')
    assert main(["check", "faq.yaml", "faq.jsonl"]) == 0


def test_problems_are_capped(capsys):
    for name, text, first in (
        ("a.yaml", "queries:\n" + "- !a [!b c]\n" * 5000, "a.yaml:2:3"),
        ("a.qrels", "x\n" * 5000, "a.qrels:1:1"),
        ("a.csv", "query,docid,rating\n" + "a,,1\n" * 5000, "a.csv:2:1"),
    ):
        found = refused(capsys, name, text)
        assert (len(found), found[0].partition(": ")[0]) == (1001, first)
        assert found[-1].endswith(": These are 1000 problems, and the rest is not read. Solve these first.")


# Characters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sign", ["\x85", "\u2028", "\u2029", "\ufeff", "\x1b", "\x7f", "\x9b", "\uffff"], ids=ascii
)
def test_an_invisible_sign_in_yaml_is_named_and_its_escape_is_text(capsys, sign):
    lines = refused(capsys, "a.yaml", f"queries:\n- {{query: é{sign}a, relevant: b}}\n")
    code = f"{ord(sign):04x}"
    advice = f'Remove it, or write "\\u{code}" within double quotes.'
    assert lines[0] == f"a.yaml:2:12: Here is the invisible sign U+{code.upper()}. {advice}"
    write("a.yaml", f'queries:\n- {{query: "a\\u{code}", relevant: b}}\n')
    assert f"a{sign}" in GoldenSet.load("a.yaml").queries


@pytest.mark.parametrize(
    ("name", "data", "place", "words"),
    [
        ("a.yaml", "queries:\n- {query: café}".encode("latin-1"), "2:14", "The byte 0xE9 is not UTF-8. In Latin-1 it would be 'é'. Save the file as UTF-8."),
        ("a.yaml", b"\xef\xbb\xbfqueries:\n- {query: caf\x81}", "2:14", "The byte 0x81 is not UTF-8. Save"),
        ("a.yaml", b"queries: \xed\xa0\x80", "1:10", "is not UTF-8"),
        ("a.yaml", b"queries", "1:1", "A golden set is a mapping with the key `queries`, and this is text. Write `queries:` above it."),
        ("a.qrels", b"q 0 caf\xe9 1\n", "1", "0xE9 is not UTF-8"),
        ("a.jsonl", b'\r\n{"query": "caf\xe9"}', "2:15", "0xE9 is not UTF-8"),
        *(("a.yaml", QUERY.encode(form), "1:1", "The file is in UTF-16, as PowerShell's `>` writes it, or UTF-32. Save it as UTF-8.") for form in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")),
        ("a.csv", "query,docid,rating\n".encode("utf-16"), "1:1", "UTF-16, as PowerShell"),
        ("a.csv", b"query,docid,rating\na," + b"d" * 200_000 + b",1\n", "2", "field larger than field limit"),
        ("a.qrels.gz", gzip.compress(b"q1 0 d1 1\n", mtime=0)[:10] + b"\xff" * 9, "1:1", "Its gzip data is cut short or damaged. Pack it again."),
        ("a.yaml.gz", b"\x1f\x8b" + b"x" * 9, "1:1", "gzip data is cut short or damaged"),
        ("a.jsonl", b"[" * 100_000, "1", "deep"),
        ("a.jsonl", b'{"query": "a", "relevant": {"b": ' + b"9" * 5000 + b"}}", "1", ""),
        ("a.jsonl", b'{"query": "a", "params": ' + b"[" * 31 + b"]" * 31 + b"}", "1", "deep"),
        ("nf/queries.jsonl", b"", "1", "There is no query"),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_bytes_that_are_no_text_are_refused(capsys, name, data, place, words):
    (line,) = refused(capsys, name, data)
    assert line.startswith(f"{name}:{place}:")
    assert words in line
    assert len(line) < 400


def test_what_only_looks_like_a_conflict_marker_is_text():
    write("a.yaml", "queries:\n- query: |\n    <<<<<<< HEAD\n    >>>>>>> other\n  relevant: <<<<<<<<<<\n")
    assert main(["check", "a.yaml"]) == 0


# Paths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no.yaml", "There is no such file. Check the path."),
        ("file/no.yaml", "There is no such file"),
        ("folder", "This is a folder. Name the golden sets in it"),
        ("texts", "This is a folder. Name"),
        (
            "folder.yaml",
            "This is a folder. Name the golden sets in it, folder.yaml/*.yaml: files with .yaml, .yml, ",
        ),
        ("loop.yaml", "The file cannot be read: Too many levels of symbolic links. Check the path"),
        (f"{'a' * 5000}.yaml", "Check the path"),
        ("pipe.yaml", "This is no regular file, but a pipe or a device. Write it to a file."),
        ("largest.yaml", "The file is in UTF-16"),
        ("huge.yaml", "The file is larger than 100 MB. Split it."),
        ("huge.jsonl", "The file is larger than 1 GB. Split it."),
        ("huge.csv", "larger than 1 GB"),
        ("file", ", and this has no suffix. Rename or convert it."),
        ("gone", ", and this has no suffix. And there is no such file."),
        ("golden.pdf", "A golden set is a file with .yaml, .yml, "),
        ("golden.xlsx", "and this has '.xlsx'. Rename"),
    ],
    ids=lambda value: value[:20],
)
def test_paths_that_cannot_be_read(capsys, folder, name, words):
    (folder / "file").touch()
    (folder / "golden.xlsx").touch()
    (folder / "folder").mkdir()
    (folder / "folder.yaml").mkdir()
    write("texts/queries.jsonl", "")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    os.mkfifo("pipe.yaml")
    for large, size in (
        ("largest.yaml", 100_000_000),
        ("huge.yaml", 100_000_001),
        ("huge.jsonl", 1_000_000_001),
        ("huge.csv", 1_000_000_001),
    ):
        with Path(large).open("wb") as file:
            file.truncate(size)
    (line,) = refused(capsys, name)
    assert line.startswith(f"{name}:1:1: ")
    assert words in line


@pytest.mark.parametrize("name", ["a\0b.yaml", "\udc80\ud800.yaml"])
def test_paths_that_no_file_can_have(name):
    with pytest.raises(GoldenSetError, match="Check the path"):
        GoldenSet.load(name)


def test_what_unpacks_to_too_much_is_refused(capsys):
    packed = gzip.compress(b"\n" * 100_000_001, compresslevel=1)
    (line,) = refused(capsys, "a.yaml.gz", packed)
    assert line.endswith("The file is larger than 100 MB, once it is unpacked. Split it.")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(capsys):
    write("a.yaml", QUERY)
    Path("a.yaml").chmod(0)
    assert "Permission denied. Check the path and its permissions." in refused(capsys, "a.yaml")[0]


# From Python ---------------------------------------------------------------------------------------------------


def test_an_error_holds_each_problem_and_can_be_sent_to_another_process():
    import pickle

    write("golden/faq.yaml", "queries: a")
    with pytest.raises(GoldenSetError) as caught:
        GoldenSet.load("golden/faq.yaml")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.column) == (str(Path("golden/faq.yaml")), 1, 10)
    assert str(caught.value) == str(problem) == f"{problem.file}:1:10: {problem.message}"
    sent = pickle.loads(pickle.dumps(caught.value))
    assert (str(sent), sent.problems) == (str(caught.value), caught.value.problems)


# Any bytes -----------------------------------------------------------------------------------------------------

FULL = """\
name: faq
thresholds: {ndcg@10: 0.70, P@5: {min: 0.5, max_drop: 5%}}
queries:
- {query: &t hello, relevant: [b, {doc: c, text: d e, grade: 2}], tags: [t], x-more: *t}
- id: refund
  query: |
    zwei
    Zeilen ä
  relevant: {"doc-9": 3, 'it''s': 0}
  params: {lang: "no", deep: [1.5, null, {d: "e"}]}
"""
SEEDS = {
    "a.yaml": [FULL.encode(), b'{"queries": [{"query": "a\\u00e9", "relevant": {"b": 2}}]}'],
    "a.jsonl": [b'{"query": "a", "relevant": {"d": 2.5}, "tags": ["t"]}\r\n\n{"query": "b\\u00e9", "relevant": "d"}\n'],
    "a.csv": [b'id;query;docid;rating;tags\r\n1;"a, b";d1;1;x\r\n2;"c ""d""";d3;1;"y,z"\r\n'],
    "a.qrels": [b"q1 0 d1 1\n\nq2\tQ0\td2\t-1"],
    "nf/qrels/test.tsv": [b"query-id\tcorpus-id\tscore\nq1\td1\t1\r\nq2\td 3\t2\n"],
}  # fmt: skip
WRITTEN = [name for name in map(target_of, forms()) if f"a{Path(name).suffix}" not in {"a", *SEEDS}]
"""Files of the other formats that `convert` writes."""


@st.composite
def damaged(draw, seeds: list[bytes]) -> bytes:
    """The content of a file, in which up to three short parts are cut out, doubled or replaced."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        part = data[start : start + draw(st.integers(0, 6))]
        tokens = st.text("{}[]:,'\"&*!|>#-%@~\n\t\r 01.\\udqtrnie<", max_size=4).map(str.encode)
        new = draw(tokens | st.binary(max_size=2) | st.just(part + part))
        data = data[:start] + new + data[start + len(part) :]
    return data


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", [*SEEDS, *WRITTEN])
def test_any_bytes_are_read_or_refused_with_a_place(name):
    write("nf/queries.jsonl", '{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "two"}\n')
    if name in WRITTEN:
        assert main(["convert", write("in.jsonl", '{"query": "a", "relevant": "b"}'), name]) == 0
    seeds = SEEDS.get(name) or [Path(name).read_bytes()]

    @often(0.05)
    @given(data=st.binary(max_size=8) | damaged(seeds) | damaged(seeds))
    def read(data):
        write(name, data)
        golden, problems = None, ()
        try:
            golden = GoldenSet.load(name)
        except GoldenSetError as error:
            problems = error.problems
        if reached(golden is not None):
            assert golden.queries
            for query in golden.queries.values():
                for doc_id in query.judgments:
                    golden.where_judged(query.id, doc_id)
        else:
            assert problems
            for problem in problems:
                assert 1 <= problem.line <= data.count(b"\n") + data.count(b"\r") + 2
                assert problem.column >= 1
                assert "\n" not in problem.message
                assert len(problem.message) < 600

    read()


def test_the_hook_for_pre_commit_checks_each_kind_of_file(capsys):
    [hook] = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text("utf-8"))
    suffixes = re.findall(r"\.[a-z]+(?=,)", cli(capsys, "check", write("a.doc", ""), status=1)[0][0])
    assert [one for one in suffixes if not re.search(hook["files"], f"golden/a{one}")] == [".txt"]
