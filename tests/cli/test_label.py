"""Command `label`: what is listed, spreadsheets there and back, and judging one document after the other."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_irmetrics import GoldenSet
from tests.cli.console import run
from tests.warm_python import python_words

FILE = "golden/faq.yaml"
GOLDEN = """\
# by hand
queries:
- id: refund
  query: refund policy
  relevant: {d1: 1, d2: 2}
- query: opening hours
  relevant: [d9] # one
- {id: nothing, query: asdf, no_answer: true}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("golden").mkdir()
    Path(FILE).write_text(GOLDEN)
    found = {"refund": ["u1", "d1", "u2"], "opening hours": ["d9", "0123"], "nothing": []}
    write_run("now.json", found)
    write_run("ir_baselines/test_search/test_it[faq].json", found, golden_set="golden/faq.yaml", depth=10)


def write_run(name, answers, **header):
    queries = [{"id": query_id, "rankings": [ranking]} for query_id, ranking in sorted(answers.items())]
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(
        json.dumps({"format": "pytest-irmetrics run", "version": 1, **header, "queries": queries})
    )


def label(*arguments, status=0, file=FILE, **streams):
    done = run("label", file, *arguments, **streams)
    assert done.status == status, done.err
    return done


def listed(*arguments):
    return [one["docid"] for one in rows_of(label("--out", "-", *arguments))]


def rows_of(done):
    return list(csv.DictReader(io.StringIO(done.data.decode("utf-8-sig"))))


def judgments(query_id="refund", file=FILE):
    return dict(GoldenSet.load(file).queries[query_id].judgments)


# What is listed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "documents"),
    [
        ([], ["u1", "0123", "u2"]),
        (["--limit", "1"], ["u1"]),
        (["--limit", "0"], ["u1", "0123", "u2"]),
        (["--query", "refund", "--by", "mrr"], ["u1"]),
        (["--query", "opening hours", "--query", "refund", "--by", "P@3"], ["u1", "0123", "u2"]),
        (["--run", "ir_baselines/test_search/test_it[faq].json"], ["u1", "0123", "u2"]),
        (["--run", "other.json"], ["n1", "u1", "0123", "u2"]),
        (["--run", "other.json", "--run", "now.json"], ["n1", "u1", "0123", "u2"]),
        (["--run", "now.json", "--run", "now.json", "--by", "mrr"], ["u1"]),
        (["--run", "other.json", "--run", "./other.json"], ["n1"]),
        (["--run", "other.json", "--baseline-dir", "elsewhere"], ["n1"]),
    ],
)
def test_unjudged_documents_are_listed_by_what_hangs_on_them(options, documents):
    refund = ["n1", "d1", "n1 (chunk n1#2)"]
    write_run("other.json", {"refund": refund, "opening hours": ["d9"], "nothing": ["x"]})
    assert listed(*options) == documents


def test_twenty_are_listed_unless_told_otherwise():
    found = ([f"{run}{n}" for n in range(10)] for run in "xy")
    for name in ("one.json", "two.json"):
        write_run(name, {"refund": next(found), "opening hours": ["z"]})
    runs = ["--run", "one.json", "--run", "two.json"]
    assert (
        f"{FILE}: 21 unjudged documents that ndcg@10 looks at, the 20 to judge first (--limit 0 lists"
        in label(*runs).out
    )
    assert len(listed(*runs)) == 20
    told = "argument --limit: '\u00b2' is no count. Write a whole number; 0 shows all"
    assert told in label("--limit", "\u00b2", status=2).err


def test_baselines_are_found_in_the_whole_project_and_one_that_is_broken_is_a_note(monkeypatch):
    Path(".git").mkdir()
    Path("tests").mkdir()
    Path("ir_baselines").rename("tests/ir_baselines")
    path = Path("tests/ir_baselines/test_search/test_it[faq].json")
    path.write_text(path.read_text().replace("golden/faq.yaml", "../golden/faq.yaml"))
    (path.parent / "test_it[broken].json").write_text("{")
    write_run("tests/ir_baselines/test_search/test_it[made in Python].json", {"refund": ["n1"]})
    assert listed() == ["u1", "0123", "u2"]
    monkeypatch.chdir("tests")
    assert len(rows_of(label("--out", "-", file=str(Path("../golden/faq.yaml").resolve())))) == 3
    done = label("--out", "-", file="../golden/faq.yaml")
    assert len(rows_of(done)) == 3
    assert done.err.startswith("note: ")
    assert "test_it[broken].json" in done.err
    Path("../tests/ir_baselines/test_search/test_it[faq].json").unlink()
    told = "No baseline of this golden set is in a folder ir_baselines from here on down. Store one (pytest --ir-baseline-update), or name a run: pytest --ir-report=json:run.json, and --run run.json."
    assert label(status=1, file="../golden/faq.yaml").err.splitlines()[-1] == f"../golden/faq.yaml: {told}"


def test_a_baseline_whose_golden_set_was_renamed_is_found_by_its_own_name_and_a_query_by_its_words():
    Path(FILE).rename("golden/all.yaml")
    folder = Path("ir_baselines/test_search")
    assert "No baseline of this golden set" in label(status=1, file="golden/all.yaml").err
    path = (folder / "test_it[faq].json").rename(folder / "test_it[bm25-all].json")
    path.write_text(path.read_text().replace('"id": "refund"', '"id": "other", "text": "Refund policy"'))
    assert len(rows_of(label("--out", "-", file="golden/all.yaml"))) == 3
    Path(FILE).write_text(GOLDEN)  # then it is that one's
    assert "No baseline of this golden set" in label(status=1, file="golden/all.yaml").err


def test_what_is_judged_already_leaves_an_empty_list_in_every_form():
    write_run("done.json", {"refund": ["d1"], "opening hours": ["d9"], "nothing": []})
    options = ["--run", "done.json", "--baseline-dir", "none"]
    assert label(*options).out == f"{FILE}: 0 unjudged documents that ndcg@10 looks at.\n"
    assert listed(*options) == []
    written = label(*options, "--metric", "mine", "--out", "x.csv").out
    assert written.endswith(
        "0 documents to judge. Fill in the column rating, and then: pytest-irmetrics label golden/faq.yaml --metric mine --run done.json --from x.csv\n"
    )
    assert "0 unjudged documents" in label(*options, "-i").out


def test_an_id_to_copy_is_not_cut():
    write_run("long.json", {"refund": ["x" * 90]})
    assert "x" * 90 in label("--run", "long.json").out


CORPORA = {
    "c.jsonl": b'\xef\xbb\xbf{"_id": "u1", "title": "One  title", "text": "Its text."}\n\n{"id": 123}\n{"docid": "u2", "text": " "}\n',
    "c.jsonl.gz": gzip.compress(b'{"docid": "u1", "title": "One title", "text": "Its text."}\n'),
}


@pytest.mark.parametrize("name", CORPORA)
def test_titles_and_texts_come_from_a_corpus(name):
    Path(name).write_bytes(CORPORA[name])
    one, *_ = rows_of(label("--corpus", name, "--out", "-"))
    assert (one["docid"], one["title"], one["text"]) == ("u1", "One title", "Its text.")
    assert listed("--corpus", name) == ["u1", "0123", "u2"]
    assert rows_of(label("--out", "-", "--corpus", "-", stdin=CORPORA["c.jsonl"]))[0] == one
    assert not label("--corpus", name).err


@pytest.mark.parametrize(
    ("data", "has"),
    [
        ('{"id": "U1"}\n{"id": "U2"}\n{"id": 3}\n{"id": 4}\n', "Its first ids are 'U1', 'U2', '3'."),
        ('{"page": "u1"}\n', "Its lines have no key docid, doc_id, _id, id."),
    ],
)
def test_a_corpus_of_other_documents_is_noted(data, has):
    Path("c.jsonl").write_text(data)
    said = "has none of the documents to show: 'u1', '0123', 'u2' and 3 more"
    done = label("--corpus", "c.jsonl")
    assert (
        done.err
        == f"note: c.jsonl: {said}. {has} Give the documents that the search returns, by the same ids.\n"
    )
    assert not label("--corpus", "c.jsonl", "--query", "nothing").err


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("c.jsonl", b'{"docid": "u1"}\n\nu2\n', "c.jsonl:3: cannot be read: Expecting value"),
        ("c.jsonl", b'{"docid": "\xff"}', "c.jsonl:1: cannot be read: "),
        ("c.jsonl.gz", b"docid\n", "c.jsonl.gz:1: cannot be read: "),
        ("none.jsonl", None, "none.jsonl:1: cannot be read: No such file"),
        ("golden", None, "golden:1: cannot be read: "),
    ],
)
def test_a_corpus_that_cannot_be_read_is_told(name, data, told):
    if data is not None:
        Path(name).write_bytes(data)
    done = run("label", FILE, "--corpus", name)
    assert done.err.startswith(told)
    assert done.err.endswith(". Give JSON Lines of docid, title and text, in UTF-8.\n")
    assert done.status == 1


# Spreadsheets ---------------------------------------------------------------------------------------------------


def fill_in(text, **ratings):
    """The list as a spreadsheet saves it, with ratings by document."""
    rows = list(csv.reader(io.StringIO(text)))
    for row in rows[1:]:
        row[3] = ratings.get(row[2], "")
    return rows


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_list_is_written_filled_in_and_read_back(separator, encoding):
    label("--out", "list.csv")
    head = b"\xef\xbb\xbfid,query,docid,rating,rank,influence,title,text\r\n"
    assert Path("list.csv").read_bytes().startswith(head)
    rows = fill_in(Path("list.csv").read_text("utf-8-sig"), u1="2", u2="0.5")
    text = "\r\n".join(separator.join(row) for row in rows)
    Path("list.csv").write_bytes(text.encode(encoding))
    done = label("--from", "list.csv")
    assert done.out.endswith("2 judgments appended.\n")
    assert judgments() == {"d1": 1, "d2": 2, "u1": 2, "u2": 0.5}
    assert label("--from", "list.csv").out == f"{FILE}: 0 judgments appended.\n"
    Path("new.csv").write_text("id,docid,rating\nrefund,d1,1\nopening hours,0123,0\nopening hours,123,1\n")
    assert "note: new.csv:4: No run at hand has '123'. A sp" in label("--from", "new.csv").err
    Path("empty.csv").write_text("docid,rating,id\nu1,,refund\n")
    assert label("--from", "empty.csv").out == f"{FILE}: 0 judgments appended.\n"


def test_formulas_are_guarded_and_texts_found_with_other_line_ends():
    queries = [
        {"id": "=1+1", "query": "@a", "relevant": ["d"]},
        {"id": "two", "query": "one\ntwo", "relevant": ["d"]},
        {"id": "b", "query": "twice", "relevant": ["d"]},
        *({"id": one, "query": "twice", "relevant": ["d"]} for one in "cde"),
    ]
    Path("h.yaml").write_text(json.dumps({"queries": queries}))
    write_run("h.json", {"=1+1": ["-x", "d"], "two": ["e", "d"], "b": ["e)"]})
    Path("c.jsonl").write_text('{"docid": "e", "title": "=2+2", "text": "+1"}\n')
    out = label("--run", "h.json", "--corpus", "c.jsonl", "--out", "-", file="h.yaml").data
    rows = fill_in(out.decode("utf-8-sig"), **{" -x": "1", "e": "2"})
    assert [row[-1] for row in rows if row[2] == "e)"] == [""]  # no chunk of a document
    assert rows[1][:3] == [" =1+1", " @a", " -x"]
    assert rows[2][-2:] == [" =2+2", " +1"]
    Path("h.csv").write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in rows), newline="\r\n")
    assert "2 judgments appended" in label("--from", "h.csv", file="h.yaml").out
    assert judgments("=1+1", "h.yaml") == {"d": 1, "-x": 1}
    Path("h.csv").write_text('query,docid,rating\r\n"one\r\ntwo",f,1\r\ntwice,f,1\r\nzzz,f,1\r\n', newline="")
    done = label("--from", "h.csv", file="h.yaml", status=1)
    assert done.err == (
        "h.csv:4: There is no query 'twice'. Did you mean 'b' or 'c' or 'd' or 'e'?\n"
        "h.csv:5: There is no query 'zzz'. There are =1+1, two, b, c, d and 1 more.\n"
    )


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\xff\xfe", "list.csv:1:1: The file is in UTF-16, as PowerShell's `>` writes it, or UTF-32."),
        (b"id,docid\n", "list.csv:1:1: The header has no column `rating`."),
        (b"id,rating\n", "list.csv:1:1: The header has no column `docid`."),
        (b"", "list.csv:1:1: The header has no column `query`."),
        (b"id,docid,rating\nrefund,u1,1\nrefund,u1,2\n", "list.csv:3: 'refund' grades 'u1' 1 already"),
        (
            b"id,docid,rating\nrefund,d1,2\n",
            "list.csv:2: 'refund' grades 'd1' 1 already (golden/faq.yaml:5), and here it is 2.",
        ),
        (b"id,docid,rating\nrefund,u1,1001\nrefund,,1\nrefnd,x,\n", "list.csv:2: '1001' is no grade."),
        (
            b'id,docid,rating\nrefund,"' + b"x" * 140_000 + b'",1\n',
            "list.csv:2:1: This is no row of a table (field larger than",
        ),
        (None, "list.csv:1:1: There is no such file."),
    ],
)
def test_a_list_that_is_wrong_changes_nothing(data, told):
    if data is not None:
        Path("list.csv").write_bytes(data)
    done = label("--from", "list.csv", status=1)
    assert told in done.err
    assert Path(FILE).read_text() == GOLDEN


# Judgments of the command line ----------------------------------------------------------------------------------


def test_judgments_stand_where_they_belong_and_all_else_as_it_was():
    Path(FILE).chmod(0o640)
    label(
        "--judge",
        "refund",
        "u1",
        "0.5",
        "--judge",
        "opening hours",
        "0123",
        "0",
        "--judge",
        "opening hours",
        "yes",
        "1",
    )
    assert Path(FILE).read_text() == GOLDEN.replace("d2: 2}", "d2: 2, u1: 0.5}").replace(
        "[d9] # one", '{d9: 1, "0123": 0, "yes": 1} # one'
    )
    assert Path(FILE).stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="there is no flock")
def test_commands_at_the_same_time_keep_the_judgments_of_each():
    ids = [f"d{number}" for number in range(10, 18)]
    command = [*python_words(), "-m", "pytest_irmetrics.cli", "label", FILE, "--judge", "refund"]
    started = [subprocess.Popen([*command, doc_id, "2"], stdout=subprocess.PIPE, text=True) for doc_id in ids]
    assert all("1 judgment appended." in one.communicate(timeout=120)[0] for one in started)
    assert set(ids) < set(judgments())


GIVEN = {
    "-i/--interactive": ["-i"],
    "-o/--out": ["-o", "x.csv"],
    "--from": ["--from", "x.csv"],
    "--judge": ["--judge", "refund", "u1", "1"],
    "--passage": ["--passage", "refund", "u1", "words", "1"],
}


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(GIVEN, 2)))
def test_judgments_come_from_one_place_at_a_time(one, other):
    told = label(*GIVEN[one], *GIVEN[other], status=2).err
    assert f"argument {other}: not allowed with argument {one}" in told
    assert Path(FILE).read_text() == GOLDEN


def test_a_metric_of_ones_own_is_named():
    Path(FILE).write_text("thresholds: {freshness: 1}\n" + GOLDEN)
    assert "freshness" in label("--judge", "refund", "u1", "1", status=1).err
    label("--judge", "refund", "u1", "1", "--metric", "freshness")


# One after the other --------------------------------------------------------------------------------------------


class Answers(io.StringIO):
    """Lines of input; a function among them is called when it is its turn, and the next line is given."""

    def __init__(self, *answers):
        super().__init__()
        self.answers = list(answers)

    def readline(self, *_):
        while self.answers and callable(self.answers[0]):
            self.answers.pop(0)()
        return f"{self.answers.pop(0)}\n" if self.answers else ""


def judge(*answers, options=()):
    """Judge with these lines of input."""
    return label("-i", *options, stdin=Answers(*answers)).out


def replace(old, new):
    """A function that edits the golden set, as somebody else does meanwhile."""
    return lambda: Path(FILE).write_text(Path(FILE).read_text().replace(old, new))


def test_each_grade_is_written_where_it_belongs_and_what_was_skipped_is_asked_again():
    judge(" 2 ", "S", "0.5")
    assert judgments() == {"d1": 1, "d2": 2, "u1": 2}
    assert judgments("opening hours") == {"d9": 1, "0123": 0.5}
    assert Path(FILE).read_text().startswith("# by hand\n")
    assert listed() == ["u2"]


def test_what_was_just_judged_is_shown_with_what_the_query_had():
    write_run("other.json", {"refund": ["n1", "n2"]})
    out = judge("2", "3", "q", options=["--run", "other.json"])
    assert "  judged    2 d2; 2 n1; 1 d1\n" in out
    assert "  judged    3 u1; 2 d2; 2 n1; 1 d1\n" in out


def test_undo_takes_back_one_after_the_other_up_to_the_first():
    out = judge("2", "s", "0", "u", "u", "u", "1", "q")
    assert judgments() == {"d1": 1, "d2": 2, "u1": 1}
    assert judgments("opening hours") == {"d9": 1}
    assert out.count("taken out: ") == 2
    assert "1 judgment written" in out
    assert "quit:   There is nothing to undo.\n" in judge("u", "q")
    assert Path(FILE).read_text() == GOLDEN.replace("d2: 2}", "d2: 2, u1: 1}")


def test_the_last_grade_can_be_undone_and_other_answers_are_asked_again():
    out = judge("1000", "1", "1", "u", "-1", "1001", "", "0", "x", options=["--limit", "3"])
    assert judgments("opening hours") == {"d9": 1, "0123": 0}
    assert out.count("Write a grade from 0 to 1000, s, u or q.") == 3


def test_the_end_of_input_ends_it_and_nothing_is_lost():
    assert f"u undo, q quit: \n{FILE}: 1 judgment written.\n" in judge("1")
    assert judgments()["u1"] == 1

    def interrupt():
        raise KeyboardInterrupt

    assert "0 judgments written." in label("-i", stdin=b"\xff\n").out

    assert "1 judgment written." in label("-i", stdin=Answers("1", interrupt), status=130).out


@pytest.mark.parametrize(
    ("answers", "told", "left"),
    [
        (["1", replace("# by hand", "# by two"), "1", "q"], "2 judgments written", "# by two\n"),
        (["1", replace("u1: 1}", "u1: 1, u2: 0}"), "1", "q"], "grades 'u2' 0 already", "u2: 0"),
        ([replace("u1", "u1"), replace("d2: 2}", "d2: 2, u1: 0}"), "1", "q"], "grades 'u1' 0 already", "u1: 0"),
        (["1", replace("id: refund", "id: other"), "1", "q"], "u2: There is no query 'refund'.", "u1: 1}"),
        (["1", replace("# by hand", "# by two"), "u", "q"], "was changed meanwhile, and nothing was written. Run it again. Take it out by hand: golden/faq.yaml:5: refund: u1 1", "u1: 1}"),
        (["1", replace("queries:", "queries: ["), "1", "q"], "golden/faq.yaml:", "queries: ["),
        (["1", lambda: Path(FILE).rename("gone.yaml"), "1", lambda: Path("gone.yaml").rename(FILE), "1"], "golden/faq.yaml:1:1: There is no such file.", "u2: 1"),
    ],
)  # fmt: skip
def test_what_somebody_else_wrote_meanwhile_is_kept(answers, told, left):
    assert told in " ".join(judge(*answers).split())
    assert left in Path(FILE).read_text()


def test_titles_texts_and_all_that_is_known_of_the_query_are_shown():
    Path("c.jsonl").write_text(
        json.dumps({"docid": "u1", "title": "One", "text": "Words of it. " * 90}) + "\n"
    )
    relevant = "{d1: 1, d2: 2, d3: 0, d4: 0, d5: 0, d6: 0}"
    edit = replace("{d1: 1, d2: 2}", relevant + '\n  params: {city: "Z\\xFCrich"}')
    edit()
    out = judge("q", options=["--corpus", "c.jsonl"])
    for part in (
        "refund policy",
        'params    {"city": "Z\xfcrich"}\n',
        "judged    2 d2; 1 d1; 0 d3; 0 d4; 0 d5 and 1 more\n",
        "document  u1",
        "title     One",
    ):
        assert part in out
    _, _, text = out.partition("text      ")
    assert " ".join(text.split()).startswith(("Words of it. " * 90)[:599] + "…")


@pytest.mark.parametrize(("columns", "width"), [("", 100), ("20", 40)])
def test_lines_are_as_wide_as_the_terminal_but_not_under_40(columns, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    replace("id: refund", f"id: refund\n  note: {'a ' * 150}bb{' a' * 150}")()
    assert max(len(line) for line in judge("q").splitlines() if " a a" in line) == width


def test_a_passage_is_asked_for_where_the_query_judges_passages():
    golden = "queries:\n- id: back\n  query: send back\n  relevant:\n  - {doc: book, text: thirty days, grade: 2}\n"
    Path(FILE).write_text(golden)
    ranking = ["book (chunk 4)", "faq", "tips", "bag", "bag (chunk bag#2)"]
    write_run("run.json", {"back": ranking})
    queries = [{"query_id": "was", "text": "Send  back", "texts": {ranking[-1]: "Light, and it folds."}}]
    stored = json.loads(Path("run.json").read_text())
    tests = [
        {"nodeid": "t[faq]", "golden_set": FILE, "titles": {}, "queries": queries, "run": stored},
        {"nodeid": "t[other]", "golden_set": "golden/other.yaml", "run": stored},
    ]
    for file, held in {"now.json": tests, "old.json": [{"run": stored}]}.items():
        Path(file).write_text(json.dumps({"format": "pytest-irmetrics report", "tests": held}))
    assert all("which has them" in label("--run", file).err for file in ("run.json", "old.json"))
    assert "which has them" not in label("--run", "now.json").err
    Path("c.jsonl").write_text(
        '{"docid": "faq", "text": "You pay. The way back is free."}\n{"docid": "book", "title": "Travel"}\n'
        '{"docid": "tips", "text": " Pack it well. "}\n'
    )
    answers = ["1", "", "U", "1", "keep the receipts", "2", "is not there", "The way  back", "3", "", "s"]
    answers += ["1", "s", "1", "it folds"]
    out = judge(*answers, options=["--run", "now.json", "--corpus", "c.jsonl"])
    assert "the passage, in its own words (u back): " in out
    assert "(u back):   These words are not in the text. Write them as they stand there.\n" in out
    assert "  title     Travel\n" in out
    assert "the passage, in its own words (empty for all of it, u back): " in out
    assert "  text      Light, and it folds.\n" in out
    assert "bag (chunk bag#2)  Light, and it folds." in label("--run", "now.json").out
    _, first, second, third, last = GoldenSet.load(FILE).queries["back"].passages
    assert (last.doc, last.text, last.grade) == ("bag", "it folds", 1)
    assert (
        "Give the text that was read, too: --passage QUERY DOC"
        in label("--judge", "back", "map#3", "2", status=1).err
    )
    assert (third.doc, third.text, third.grade) == ("tips", "Pack it well.", 3)
    assert (first.doc, first.text, first.grade) == ("book", "keep the receipts", 1)
    assert (second.doc, second.text, second.grade) == ("faq", "The way back", 2)


@pytest.mark.parametrize(("length", "is_passage"), [(4000, True), (4001, False)])
def test_a_long_text_is_not_written_as_a_passage(length, is_passage):
    Path(FILE).write_text("queries:\n- id: back\n  relevant:\n  - {doc: book, text: thirty days}\n")
    Path("l.csv").write_text(f"id,docid,rating,text\nback,faq,2,{'x' * length}\nback,map,1,{'y' * length}\n")
    status = 0 if is_passage else 1
    done = label("--from", "l.csv", status=status)
    assert (len(GoldenSet.load(FILE).queries["back"].passages) == 3) is is_passage, done.err


def test_only_yaml_is_appended_to():
    Path("a b.csv").write_text("id,query,docid,rating\nrefund,refund policy,d1,1\n")
    for options in (["-i"], ["--judge", "refund", "u1", "1"]):
        told = label(*options, file="a b.csv", status=1).err
        assert told == (
            "a b.csv: Judgments are appended to YAML alone. Add them to this file with what wrote it, or make YAML of it: `pytest-irmetrics convert 'a b.csv' 'a b.yaml'`.\n"
        )
    assert " ".join(label("--run", "now.json", file="a b.csv").out.split()).endswith(told[9:-1])
    packed = label("-i", file="a b.csv.gz", status=1).err
    assert packed.endswith("`pytest-irmetrics convert 'a b.csv.gz' 'a b.yaml'`.\n")
    Path("b.YML").write_text(GOLDEN)
    label("--judge", "refund", "u1", "1", file="b.YML")
