"""Command `convert`: golden sets."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from pytest_irmetrics import cli
from pytest_irmetrics.cli.convert import FORMATS
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.golden.passage import normalize_text
from pytest_irmetrics.golden.write_yaml import scalar
from tests.unit.cli.console import convert

TARGETS = {
    "yaml": "out.yaml",
    "jsonl": "out.jsonl",
    "csv": "out.csv",
    "tsv": "out.tsv",
    "trec": "out.qrels",
    "beir": "out/",
    "quepid": "out.csv",
}
FULL = """\
version: 1
# for people
name: the faq
relevance_level: 2
thresholds:
  ndcg@10: 0.70
  P@5: {min: 0.5, max_drop: 5%, max_lost: 3}
  mrr: off
slices:
  billing: {recall@10: 0.90}
queries:
  - query: how do I reset my password
    relevant: {doc-12: 2}
  - id: refund
    query: refund policy
    relevant: {doc-9: 3, doc-4: 1, doc-7: 0, doc-5: 2.5}
    forbidden: [doc-99, doc-7]
    tags: [billing, money]
    weight: 2.0
    params: {lang: "no", max_price: 500}
    thresholds: {mrr: {min: 1.0, max_drop: off}}
    note: anything, for people
    x-ticket: 7
  - query: asdf qwerty
    no_answer: true
  - id: bad
    query: known to be bad
    relevant: {doc-3: 2}
    xfail: TICKET-7
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("faq.yaml").write_text(FULL)
    return tmp_path


def content(golden: GoldenSet) -> list[object]:
    """A golden set without places, for comparison."""
    limits = [(threshold.metric, threshold.limits, threshold.tag) for threshold in golden.thresholds]
    return [golden.relevance_level, limits, *map(query_content, golden.queries.values())]


def query_content(query: Query) -> object:
    limits = [(threshold.metric, threshold.limits) for threshold in query.thresholds]
    plain = replace(query, thresholds=(), note=query.note or None, line=None, column=None)
    return plain, limits, list(query.judgments), {key: type(value) for key, value in query.params.items()}


class TestGoldenSets:
    def test_writes_readable_yaml(self, capsys):
        out, notes = convert(capsys, "faq.yaml", "out.yaml")
        assert out == "out.yaml: 4 queries, 6 judgments\n"
        assert notes == [
            "note: Comments and keys that begin with x- are for people, and are not carried over."
        ]
        assert (
            Path("out.yaml").read_text()
            == """\
name: the faq
relevance_level: 2
thresholds:
  ndcg@10: 0.7
  precision@5: {min: 0.5, max_drop: 5%, max_lost: 3}
  mrr: off
slices:
  billing:
    recall@10: 0.9
queries:
  - query: how do I reset my password
    relevant: {doc-12: 2}
  - id: refund
    query: refund policy
    relevant: {doc-9: 3, doc-4: 1, doc-7: 0, doc-5: 2.5}
    forbidden: [doc-99, doc-7]
    tags: [billing, money]
    weight: 2
    params: {lang: "no", max_price: 500}
    thresholds: {mrr: {min: 1, max_drop: off}}
    note: anything, for people
  - query: asdf qwerty
    no_answer: true
  - id: bad
    query: known to be bad
    relevant: {doc-3: 2}
    xfail: TICKET-7
"""
        )
        assert content(GoldenSet.load("out.yaml")) == content(GoldenSet.load("faq.yaml"))

    @pytest.mark.parametrize(
        ("to", "notes"),
        [
            ("jsonl", ["JSONL holds no name ('the faq'), relevance level (2), thresholds (3), slices (1)."]),
            (
                "csv",
                [
                    (
                        "CSV holds no name ('the faq'), relevance level (2), thresholds (3), slices (1), forbidden documents (1 query), "
                        "thresholds of single queries (1 query), xfail (1 query), notes (1 query)."
                    ),
                    "Without an answer to judge, 'asdf qwerty' is left out (`no_answer`).",
                ],
            ),
            (
                "beir",
                [
                    (
                        "A BEIR folder holds no name ('the faq'), relevance level (2), thresholds (3), slices (1), forbidden documents (1 query), "
                        "tags (1 query), weights (1 query), params (1 query), thresholds of single queries (1 query), xfail (1 query), notes (1 query)."
                    ),
                    "Without an answer to judge, 'asdf qwerty' is left out (`no_answer`).",
                    "Grades that are no whole numbers (1) are written as they are; other readers may cut or refuse them.",
                ],
            ),
            (
                "quepid",
                [
                    (
                        "Quepid's CSV holds no name ('the faq'), relevance level (2), thresholds (3), slices (1), ids beside the texts (2 queries), "
                        "forbidden documents (1 query), tags (1 query), weights (1 query), params (1 query), thresholds of single queries (1 query), "
                        "xfail (1 query), notes (1 query)."
                    ),
                    "Without an answer to judge, 'asdf qwerty' is left out (`no_answer`).",
                ],
            ),
        ],
    )
    def test_notes_what_the_target_format_cannot_hold(self, capsys, to, notes):
        _, err = convert(capsys, "faq.yaml", TARGETS[to], "--to", to)
        assert err[:-1] == [f"note: {note}" for note in notes]
        assert "Comments" in err[-1]

    def test_notes_nothing_where_nothing_is_lost(self, capsys):
        Path("a.yaml").write_text(
            "queries:\n- {id: b, query: text of b, relevant: {d: 2, e: 0}, tags: [x]}\n"
        )
        for target in ("a.csv", "a.tsv", "a.jsonl"):
            assert convert(capsys, "a.yaml", target) == (f"{target}: 1 query, 2 judgments\n", [])
            assert convert(capsys, target, f"{target}.yaml") == (f"{target}.yaml: 1 query, 2 judgments\n", [])
            assert content(GoldenSet.load(f"{target}.yaml")) == content(GoldenSet.load("a.yaml"))

    def test_passages(self, capsys):
        text = """\
queries:
  - query: refunds
    relevant: [doc-1, {doc: handbook, text: thirty days after, grade: 2}]
  - query: hours
    relevant: [{doc: handbook, text: nine to five, grade: 1}]
"""
        Path("a.yaml").write_text(text)
        assert convert(capsys, "a.yaml", "b.yaml") == ("b.yaml: 2 queries, 3 judgments\n", [])
        assert Path("b.yaml").read_text() == text
        out, notes = convert(capsys, "a.yaml", "a.csv")
        assert out == "a.csv: 1 query, 1 judgment\n"
        assert notes == [
            "note: CSV holds no passages (2 queries).",
            "note: Judged by passage alone, 'hours' is left out.",
        ]

    def test_qrels_and_topics(self, capsys):
        Path("a.yaml").write_text("queries:\n- {id: b, query: text of b, relevant: {d: 2, e: 0}}\n")
        assert convert(capsys, "a.yaml", "a.qrels") == (
            "a.qrels and a.topics.tsv: 1 query, 2 judgments\n",
            [],
        )
        assert Path("a.qrels").read_text() == "b 0 d 2\nb 0 e 0\n"
        assert Path("a.topics.tsv").read_text() == "b\ttext of b\n"

    def test_qrels_cannot_hold_ids_with_white_space(self, capsys):
        assert convert(capsys, "faq.yaml", "a.qrels", status=1) == (
            "",
            [
                "faq.yaml: Qrels hold no id with white space. Give each of these an `id` without: 'how do I reset my password'."
            ],
        )
        ids = [{"id": f"q {n}", "query": "a", "relevant": ["d"]} for n in range(8)]
        Path("a.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in ids))
        _, (error,) = convert(capsys, "a.jsonl", "a.qrels", status=1)
        assert error.endswith(": 'q 0', 'q 1', 'q 2', 'q 3', 'q 4' and 3 more.")
        assert not Path("a.qrels").exists()

    @pytest.mark.parametrize(
        ("query", "target", "error"),
        [
            ({"id": "a", "query": "b\nc", "relevant": ["d"]}, "a.qrels", "Topics hold one line a query. Take the line break out of: 'b\\nc'."),
            ({"id": "a", "query": "b\0c", "relevant": ["d"]}, "a.csv", "A table holds no NUL. Take it out of: 'b\\x00c'."),
            ({"id": "a", "query": "b", "relevant": ["d\0"]}, "a/", "A table holds no NUL. Take it out of: 'd\\x00'."),
            ({"id": "a", "relevant": ["d"]}, "a/", "A BEIR folder has the queries' texts, and this golden set has none. Add them first."),
            ({"query": "a" * 140_000, "relevant": ["d"]}, "a.tsv", "A cell holds 131,072 characters. Shorten: "),
            ({"query": "a", "params": {"n ": 1}, "relevant": ["d"]}, "a.csv", "A header holds no white space at the end of a name. Rename: 'n '."),
            ({"query": "a", "no_answer": True}, "a.csv", "Nothing of it can be held as CSV. Convert it to YAML or JSONL."),
        ],
    )  # fmt: skip
    def test_refuses_what_cannot_be_written_at_all(self, capsys, query, target, error):
        Path("a.jsonl").write_text(json.dumps(query))
        _, err = convert(capsys, "a.jsonl", target, status=1)
        assert err[-1].startswith(f"a.jsonl: {error}")
        assert {path.name for path in Path().iterdir()} == {"a.jsonl", "faq.yaml"}

    def test_quepid_holds_one_query_of_a_text(self, capsys):
        Path("a.csv").write_text("id,query,docid,rating\n1,a,d,1\n2,a,d,1\n")
        _, err = convert(capsys, "a.csv", "b.csv", "--to", "quepid", status=1)
        assert err == ["a.csv: Quepid's CSV holds one query of a text. Keep one each of: 'a'."]

    def test_reports_what_yaml_refuses(self, capsys):
        Path("a.qrels").write_text("q1 0 a 1\nq1 0 b -2\nq2 0 a 0\nq3 0 a 0.5\n")
        Path("a.topics.tsv").write_text("q1\tone\nq2\ttwo\nq3\tthree\nq4\tfour\n")
        out, notes = convert(capsys, "a.qrels", "a.yaml")
        assert out == "a.yaml: 1 query, 2 judgments\n"
        assert notes == [
            "note: YAML holds no grades below 0 (1): 0 is written, which scores the same.",
            "note: YAML holds no query without a relevant document, so 'q2', 'q3' are left out. They scored 0 and counted in every mean.",
            "note: Without any judgment, 'q4' is left out.",
        ]
        assert cli.main(["check", "a.yaml"]) == 0

    def test_never_overwrites_without_force(self, capsys):
        for there, target in (("a.jsonl", "a.jsonl"), ("a.topics.tsv", "a.qrels"), ("b/queries.jsonl", "b/")):
            Path(there).parent.mkdir(exist_ok=True)
            Path(there).write_text("mine\n")
            Path("ids.jsonl").write_text('{"id": "a", "query": "b", "relevant": ["c"]}')
            _, err = convert(capsys, "ids.jsonl", target, status=1)
            assert err == [f"{there}: It is there already. Write over it with --force, or name another OUT."]
            assert Path(there).read_text() == "mine\n"
            convert(capsys, "ids.jsonl", target, "--force")
            assert Path(there).read_text() != "mine\n"

    def test_refuses_topics_that_would_be_read_with_new_qrels(self, capsys):
        Path("a.csv").write_text("id,docid,rating\nq,d,1\n")
        Path("a.topics.tsv").write_text("q\tanother\n")
        _, err = convert(capsys, "a.csv", "a.qrels", "--force", status=1)
        assert err == [
            "a.topics.tsv: These topics would be read with a.qrels, and the set has no texts. Remove them, or name another OUT."
        ]

    def test_reports_errors_of_the_source_with_their_place(self, capsys):
        Path("a.csv").write_text("query,docid,rating\nq,d,x\n")
        assert convert(capsys, "a.csv", "a.yaml", status=1) == (
            "",
            ["a.csv:2:1: The grade of 'd' is 'x'. Write a number up to 1000."],
        )

    def test_a_folder_that_cannot_be_written(self, capsys):
        Path("file").write_text("")
        _, (error,) = convert(capsys, "faq.yaml", "file/a.jsonl", status=1)
        assert error.startswith("file/a.jsonl: cannot be written")

    def test_formulas_are_guarded(self, capsys):
        Path("a.jsonl").write_text('{"query": "=1+1", "relevant": ["@d", "-5"], "tags": ["+x"]}')
        convert(capsys, "a.jsonl", "a.csv")
        assert Path("a.csv").read_text() == "query,docid,rating,tags\n =1+1, @d,1, +x\n =1+1,-5,1,\n"
        assert content(GoldenSet.load("a.csv")) == content(GoldenSet.load("a.jsonl"))

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            (("a.txt", "b.yaml"), "a.txt: Its suffix does not say what it is. Say it: --from yaml, jsonl, csv, tsv, trec, beir, quepid or run."),
            (("faq.yaml", "b"), "b: Its suffix does not say what to write. Say it: --to yaml, jsonl, csv, tsv, trec, beir, quepid or run."),
            (("a.run", "b.yaml"), "a.run: A run holds rankings and a golden set judgments, and neither becomes the other. `pytest-irmetrics label` judges what a run returned."),
            (("faq.yaml", "b.run"), "faq.yaml: A run holds rankings and a golden set judgments, and neither becomes the other. `pytest-irmetrics label` judges what a run returned."),
            (("missing.qrels", "b.yaml"), "missing.qrels:1:1: There is no such file. Check the path."),
        ],
    )  # fmt: skip
    def test_usage_errors(self, capsys, arguments, error):
        assert convert(capsys, *arguments, status=1) == ("", [error])

    def test_options_from_and_to_name_formats(self, capsys):
        Path("qrels.txt").write_text("q 0 d 1\n")
        convert(capsys, "qrels.txt", "out", "--from", "trec", "--to", "csv")
        assert Path("out").read_text() == "id,docid,rating\nq,d,1\n"

    def test_custom_metrics(self, capsys):
        Path("a.yaml").write_text("queries:\n- {query: a, relevant: b, thresholds: {freshness: 0.5}}\n")
        _, (error,) = convert(capsys, "a.yaml", "a.jsonl", status=1)
        assert "freshness" in error
        convert(capsys, "a.yaml", "a.jsonl", "--metric", "freshness")

    def test_breaks_long_lists_and_mappings(self, capsys):
        ids = [f"a-rather-long-document-id-{n}" for n in range(5)]
        query = {
            "query": "a",
            "relevant": dict.fromkeys(ids, 2),
            "forbidden": [f"not-{name}" for name in ids],
            "params": {"k" * 1100: "v" * 50},
        }
        Path("a.jsonl").write_text(json.dumps(query))
        convert(capsys, "a.jsonl", "a.yaml")
        text = Path("a.yaml").read_text()
        assert "    relevant:\n      a-rather-long-document-id-0: 2\n" in text
        assert "    forbidden:\n      - not-a-rather-long-document-id-0\n" in text
        assert "    params:\n      ? kkkk" in text
        assert content(GoldenSet.load("a.yaml")) == content(GoldenSet.load("a.jsonl"))


NASTY = [
    "no", "0123", "12:30", "1.10", "2024-01-01", "null", "~", "true", "1e5", "1_000", "0x1F", "=", "<<", ".5", "-", "?", "- a", "? a",
    "a: b", "a:b", "a:", "a #b", "#a", "{a}", "[a", "a]", "a, b", "a,b", "&a", "*a", "!a", "%a", "@a", "`a", "|", ">", "'a'", '"a"', "it's",
    'say "hi"', "back\\slash", "...", "---", "--- a", "a\nb", "a\r\nb", "a\tb", " a", "a ", "a  b", "=cmd()", "+1", "-1", "-x", "\x85", "\u2028",
    "\ufeffa", "\x1b[0m", "\x07", "\x1c", "😀", "é", "你好", "\u202eabc", "x" * 1100, "a;b", "[1]", '["a"]', "{}", "NaN", "off", "<<<<<<<", "\ufffe",
]  # fmt: skip
TEXT = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
)
NON_BLANK = TEXT.filter(str.strip)
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.just(""),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
PASSAGES = st.lists(
    st.fixed_dictionaries(
        {"doc": TEXT, "text": st.text(string.ascii_letters + " é", min_size=1).filter(str.strip)},
        optional={"grade": st.integers(1, 4)},
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda passage: (passage["doc"], normalize_text(passage["text"])),
)
QUERY = st.fixed_dictionaries(
    {
        "query": NON_BLANK,
        "relevant": st.lists(TEXT, min_size=1, max_size=4, unique=True)
        | st.dictionaries(TEXT, st.integers(1, 1000) | st.floats(1, 1000), min_size=1, max_size=4),
    },
    optional={
        "id": NON_BLANK,
        "tags": st.lists(
            TEXT.filter(lambda tag: "," not in tag and tag == tag.strip()), max_size=3, unique=True
        ),
        "weight": st.floats(1e-3, 1e9) | st.integers(1, 5),
        "params": st.dictionaries(TEXT.map(str.strip).filter(bool), VALUE, max_size=3),
        "thresholds": st.just({"mrr": {"min": 0.5, "max_drop": "off"}, "ndcg(gain=exp)@10": 0.25}),
        "xfail": NON_BLANK.filter(
            lambda text: text.lower() not in ("true", "false", "null", "~", "yes", "no")
        ),
        "note": TEXT,
    },
)
ROUND_TRIP = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)


def is_word(text: str) -> bool:
    return text.encode().split() == [text.encode()] and text[0] != "\ufeff"


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_each_format_is_read_back(form, capsys):
    @ROUND_TRIP
    @example(
        [
            {"query": text, "relevant": [text], "params": {text.strip(): text}, "note": text}
            for text in NASTY
            if text.strip()
        ]
    )
    @given(st.lists(QUERY, min_size=1, max_size=4, unique_by=lambda query: query.get("id", query["query"])))
    def there_and_back(queries):
        if form == "trec":
            queries = [
                query | {"id": f"q{n}", "relevant": {f"d{m}": 1 for m, _ in enumerate(query["relevant"])}}
                if not all(map(is_word, [query.get("id", query["query"]), *query["relevant"]]))
                else query
                for n, query in enumerate(queries)
            ]
            queries = [query for query in queries if not {"\n", "\r"} & set(query["query"])]
            assume(queries and len({query.get("id", query["query"]) for query in queries}) == len(queries))
        if form in (
            "csv",
            "tsv",
            "trec",
            "quepid",
            "beir",
        ):  # as a line of its own, which a merge would leave
            queries = [query for query in queries if "<<<<<<<" not in json.dumps(query)]
        if form in ("csv", "tsv", "quepid", "beir"):  # a checkout would change these line ends
            queries = [query for query in queries if "\\r\\n" not in json.dumps(query)]
        if form == "quepid":
            queries = list({query["query"]: query for query in queries}.values())
        assume(queries)
        Path("in.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in queries))
        target = TARGETS[form]
        assert cli.main(["convert", "in.jsonl", target, "--to", form, "--force"]) == 0, (
            capsys.readouterr().err
        )
        assert cli.main(["convert", target, "back.yaml", "--force", "--from", form]) == 0, (
            capsys.readouterr().err
        )
        assert cli.main(["check", "back.yaml"]) == 0
        capsys.readouterr()
        before, after = GoldenSet.load("in.jsonl"), GoldenSet.load("back.yaml")
        holds = FORMATS[form].holds
        expected = []
        for query in before.queries.values():
            fields = {
                name: getattr(query if name in holds else Query("", "", {}), name)
                for name in ("forbidden", "tags", "weight", "params", "thresholds", "xfail", "note")
            }
            expected.append(
                query_content(replace(query, id=query.id if "id" in holds else query.text or "", **fields))
            )
        assert [query_content(query) for query in after.queries.values()] == expected

    there_and_back()


@pytest.mark.parametrize("form", ["yaml", "jsonl"])
def test_passages_are_read_back(form, capsys):
    @ROUND_TRIP
    @given(
        st.lists(
            st.fixed_dictionaries({"query": NON_BLANK, "relevant": PASSAGES}),
            min_size=1,
            max_size=3,
            unique_by=lambda query: query["query"],
        )
    )
    def there_and_back(queries):
        Path("in.jsonl").write_text("".join(f"{json.dumps(query)}\n" for query in queries))
        assert cli.main(["convert", "in.jsonl", TARGETS[form], "--force"]) == 0, capsys.readouterr().err
        assert content(GoldenSet.load(TARGETS[form])) == content(GoldenSet.load("in.jsonl"))
        assert all(query.passages for query in GoldenSet.load("in.jsonl").queries.values())

    there_and_back()


@ROUND_TRIP
@given(NON_BLANK, st.booleans())
def test_other_yaml_readers_read_scalars_as_the_same_text(text, flow):
    written = scalar(text, flow=flow)
    assume(len(written) < 1000)
    document = f"[{written}, {written}]" if flow else f"key: {written}\n"
    read = yaml.load(document, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert read == ([text, text] if flow else {"key": text})
