"""Make, compare, copy, save and load runs in Python."""

from __future__ import annotations

import copy
import errno
import gzip
import json
import math
import pickle
import re
import unicodedata
from collections import UserList
from dataclasses import fields
from functools import reduce
from types import MappingProxyType
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_irmetrics import GoldenSet, Run, compare, evaluate

HEAD = '{\n"format": "pytest-irmetrics run",\n"version": 1,\n'
FULL = f"""{HEAD}"golden_set": "golden/faq.yaml",
"depth": 10,
"relevance_level": 1,
"means": {{"map": 0.75, "mrr": 0.5, "recall@10": 1.0}},
"queries": [
{{"id": "faq", "text": "none", "rankings": [[]]}},
{{"id": "refund", "text": "a b", "params": {{"lang": "no", "rankings": [["d1"]]}}, "judgments": {{"d1": 2, "d9": 0}}, "weight": 2.0, \
"tags": ["billing"], "passages": {{"a: x": ["a", "x\\u200b"], "b": ["b", "y"]}}, "rankings": [["d1", "d2"], ["d2"]]}}
]
}}
"""


class Spelled(str):
    """A text that prints as another."""

    __slots__ = ()

    def __str__(self):
        return "another"


class Number:
    def __index__(self):
        return 7


def written(run, path):
    run.save(path)
    return path.read_text(encoding="utf-8")


# Making one -----------------------------------------------------------------------------------------------------------


def test_a_run_is_a_mapping_from_query_to_ids():
    run = Run({"q1": ["d1", "d2"], "q2": []})
    assert (run["q1"], run["q2"], list(run), len(run)) == (("d1", "d2"), (), ["q1", "q2"], 2)
    assert "q1" in run
    assert "q3" not in run
    assert repr(run) == "<Run: 2 queries>"
    assert repr(Run.loads(FULL)) == "<Run: 2 queries, depth 10>"
    with pytest.raises(KeyError, match="q3"):
        run["q3"]


def test_it_knows_nothing_of_a_query_but_its_ranking():
    answer = Run({"q1": ["d1", "d2"]}).answers["q1"]
    said = {one.name: value for one in fields(answer) if (value := getattr(answer, one.name))}
    assert said == {"rankings": (("d1", "d2"),)}


def test_runs_are_equal_by_their_answers_and_header():
    run = Run({"q": ["a"]})
    assert (
        run == Run({"q": ("a",)}) == pickle.loads(pickle.dumps(run)) == copy.deepcopy(run) == copy.copy(run)
    )
    full = Run.loads(FULL)
    assert full == pickle.loads(pickle.dumps(full)) == copy.deepcopy(full)
    assert run != {"q": ("a",)}
    for old, new in (
        ('"depth": 10', '"depth": 9'),
        ("faq.yaml", "x.yaml"),
        ('level": 1', 'level": 2'),
        ('"d2"]', '"d3"]'),
        ("0.5", "0.6"),
    ):
        assert full != Run.loads(FULL.replace(old, new, 1))
    with pytest.raises(TypeError):
        hash(run)


def test_it_does_not_change_with_the_lists_that_it_was_made_of():
    ranking = ["a", "b"]
    rankings = {"q": ranking}
    run = Run(rankings)
    ranking.append("c")
    rankings["q2"] = []
    assert run == Run({"q": ["a", "b"]})


IDS = [
    ("doc-1", "doc-1"),
    ("007", "007"),
    (Spelled("quiet"), "quiet"),
    (7, "7"),
    (-7, "-7"),
    (Number(), "7"),
    (np.int64(7), "7"),
    (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
]  # fmt: skip
NO_IDS = [None, True, 1.0, b"doc-1", ["doc-1"], np.bool_(1), np.float64(1), np.array([1, 2]), 10**5000]


@pytest.mark.parametrize(("given_id", "text"), IDS)
def test_what_can_be_an_id(given_id, text):
    run = Run({given_id: ["x", given_id]})
    assert run == Run({text: ["x", text]}) == Run({text: {"x": 2, given_id: 1}})
    assert {type(one) for one in (*run, *run[text])} == {str}


@pytest.mark.parametrize("given_id", NO_IDS, ids=lambda value: type(value).__name__)
def test_what_cannot(given_id):
    with pytest.raises(ValueError, match=rf"'q': an id is text, not {type(given_id).__name__}"):
        Run({"p": ["a"], "q": ["x", given_id]})


RANKINGS = [
    (iter(["b", "a"]), "b a"),
    (UserList(["b", "a"]), "b a"),
    (("b", Spelled("a")), "b a"),
    ({"a": 1.0, "b": 3, "c": 1.0}, "b c a"),
    ({"a": 1.0, "b": 2.0, "D": 1.0, "c": 1.0, "é": -1.0}, "b c a D é"),
    ({"a": -math.inf, "b": math.inf, "c": 0}, "b c a"),
    ({}, ""),
]


@pytest.mark.parametrize(("ranking", "ids"), RANKINGS)
def test_what_can_be_a_ranking_also_among_usual_ones(ranking, ids):
    run = Run({"q1": ["a"], "q2": ranking, "q3": []})
    assert run == Run({"q1": ["a"], "q2": ids.split(), "q3": []})
    assert {type(doc) for doc in run["q2"]} <= {str}


NO_RANKINGS = [
    ("abc", "is a str"),
    (b"abc", "is a bytes"),
    ({"a", "b"}, "is a set"),
    (None, "is a NoneType"),
    (5, "is a int"),
    (["a", "b", "a"], r"'a' is in it twice(?=\. Give each document once, by its id\.$)"),
    (["b", "c", "b", "c"], "'b' is in it twice"),
    (["a", 7, "7"], "'7' is in it twice"),
    (["a", ""], "an id is empty"),
    *(
        (scores, "is a mapping, and not of id to score")
        for scores in (
            {"": 1.0},
            {None: 1.0},
            {"a": math.nan, "b": 1.0},
            {"a": 1.0, "b": math.nan},
            {"a": None},
            {"a": "x"},
            {"a": 10**400, "b": 1},
        )
    ),
]


@pytest.mark.parametrize(("ranking", "words"), NO_RANKINGS)
def test_what_is_no_ranking_is_refused_with_its_query(ranking, words):
    right = {f"q{number}": ["a", "b"] for number in range(20)}
    with pytest.raises(ValueError, match=f"query 'q7'.*{words}.*\\. [A-Z]"):
        Run({**right, "q7": ranking})


@pytest.mark.parametrize(
    ("rankings", "words"),
    [
        (None, "the rankings are of type NoneType. Give a mapping of query id"),
        ([("q", ["a"])], "the rankings are of type list. Give a mapping"),
        ({1: [], "1": []}, "query '1' comes twice"),
        ({None: []}, "a query's id is text, not NoneType"),
    ],
)
def test_what_is_no_mapping_of_queries_is_refused(rankings, words):
    with pytest.raises(ValueError, match=words):
        Run(rankings)


# JSON -----------------------------------------------------------------------------------------------------------------


def test_json_comes_back_as_it_was_with_all_that_it_says(tmp_path):
    run = Run.loads(FULL)
    assert run.dumps() == FULL == written(run, tmp_path / "run.json")
    assert Run.load(path=tmp_path / "run.json") == Run.load(str(tmp_path / "run.json")) == run
    answer = run.answers["refund"]
    assert (answer.text, answer.params, answer.judgments) == (
        "a b",
        {"lang": "no", "rankings": [["d1"]]},
        {"d1": 2, "d9": 0},
    )
    assert (answer.weight, answer.tags, answer.xfail, run["refund"]) == (
        2.0,
        ("billing",),
        False,
        ("d1", "d2"),
    )
    assert answer.passages == {"a: x": ("a", "x\u200b"), "b": ("b", "y")}
    assert answer.rankings == (("d1", "d2"), ("d2",))
    assert answer.rankings[0].index(Spelled("d2")) == 1


def test_all_that_a_run_and_its_answers_say_has_a_key():
    run = Run({"q": ["d"]})
    header, query = ([one.name for one in fields(side) if one.compare] for side in (run, run.answers["q"]))
    header.remove("answers")
    of_query = [f'"queries": [{{"id": "q", "{name}": 0}}]' for name in query]
    for said in [*(f'"{name}": 0' for name in header), *of_query]:
        with pytest.raises(
            ValueError, match="` is not"
        ):  # and not that the key is unknown: without one it would not be stored
            Run.loads(f"{HEAD}{said}}}")


def test_equal_runs_are_equal_bytes(tmp_path):
    assert written(Run({"b": ["d2"], "a": []}), tmp_path / "run.json") == (
        HEAD + '"queries": [\n{"id": "a", "rankings": [[]]},\n{"id": "b", "rankings": [["d2"]]}\n]\n}\n'
    )
    other = FULL.replace("2.0", "2").replace('level": 1', 'level": 1.0')
    other = other.replace('"lang": "no", "rankings": [["d1"]]', '"rankings": [["d1"]], "lang": "no"')
    other = other.replace('{"d1": 2, "d9": 0}', '{"d9": 0.0, "d1": 2.0}')
    other = other.replace(
        '{"map": 0.75, "mrr": 0.5, "recall@10": 1.0}', '{"recall@10": 1, "mrr": 0.5, "map": 0.75}'
    )
    read = Run.loads(other)
    read.answers["refund"].params = MappingProxyType(read.answers["refund"].params)
    assert read.dumps() == FULL
    assert Run({}).dumps() == HEAD + '"queries": [\n]\n}\n'


def test_a_loaded_run_equals_the_one_that_was_written_also_where_an_id_holds_a_line_end():
    made, other = Run({"q": ["a\nb", "c"], "r": ["a\\n", 'b"']}), Run({"q": ["a", "b", "c"], "r": ["a\nb"]})
    read, read_other = Run.loads(made.dumps()), Run.loads(other.dumps())
    assert read == made
    assert read not in (other, read_other)
    assert (read["q"], read["r"], read_other["r"]) == (("a\nb", "c"), ("a\\n", 'b"'), ("a\nb",))
    assert repr(read.answers["r"].rankings) == r"""(('a\\n', 'b"'),)"""
    assert read.dumps() == made.dumps()


@pytest.mark.parametrize("name", ["run.json", "run.json.gz", "run.JSON", "run.trec", "run.run.gz", "run"])
def test_the_suffix_decides_the_format_and_packing_gives_the_same_bytes_each_time(tmp_path, name):
    run = Run({"q": ["a", "b"]})
    run.save(tmp_path / name)
    first = (tmp_path / name).read_bytes()
    run.save(tmp_path / name)
    assert first == (tmp_path / name).read_bytes()
    assert Run.load(tmp_path / name) == run
    assert not name.endswith(".gz") or first[4:8] == bytes(4)  # no time
    text = (gzip.decompress(first) if name.endswith(".gz") else first).decode()
    assert text == (
        run.dumps()
        if "json" in name.lower()
        else "q Q0 a 1 2 pytest-irmetrics\nq Q0 b 2 1 pytest-irmetrics\n"
    )


HIDING = "\x00\x1b\x7f\x85\x9f\xad\u061c\u180e\u200b\u200f\u2028\u202e\u2060\u206f\ud800\udfff\ufeff\ufff0\uffff\U000e0000\U000e0fff"


@pytest.mark.parametrize("character", HIDING)
def test_what_hides_or_breaks_lines_is_written_out(character):
    run = Run({f"q{character}": [f"d{character}"]})
    text = run.dumps()
    assert character not in text
    assert text.encode("utf-8")
    assert Run.loads(text) == run


def test_other_languages_stay_readable_wherever_they_stand():
    words = "blåbærsyltetøy 蓝莓 🫐 ~\xa0\xac\xae\u200a\u2010\u2027\u202f\u205f\u2070\ud7ff\ue000\uffef\U000dffff\U000e1000"
    text = (
        FULL.replace('"none"', f'"{words}"')
        .replace('"lang": "no"', f'"{words}": "{words}"')
        .replace("golden/faq.yaml", words)
    )
    text = (
        text.replace('"d9"', f'"{words}"')
        .replace('"billing"', f'"{words}"')
        .replace('"d2"], ["d2"]', f'"{words}"]')
    )
    assert Run.loads(text).dumps().count(words) == text.count(words) == 7


@given(
    st.dictionaries(st.text(max_size=5), st.lists(st.text(min_size=1), unique=True, max_size=5), max_size=5)
)
def test_any_text_is_kept(rankings):
    run = Run(rankings)
    text = run.dumps()
    assert Run.loads(text) == run
    assert Run.loads(text).dumps() == text
    assert not {unicodedata.category(c) for c in text.replace("\n", "")} & {"Cs", "Cc", "Zl", "Zp"}


def recursive():
    params: dict[str, object] = {}
    params["self"] = params
    return params


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("params", {"x": {1, 2}}),
        ("params", {"x": math.nan}),
        ("params", {"x": 1, 2: 3}),
        ("params", recursive()),
        ("params", {"x": reduce(lambda inner, _: [inner], range(100_000), 0)}),
        ("judgments", {"d": math.inf}),
        ("weight", math.nan),
        ("means", {"mrr": math.nan}),
    ],
)
def test_what_json_cannot_hold_is_not_stored(tmp_path, name, value):
    run = Run({"q": []})
    of, holder = ("the header", run) if name == "means" else ("query 'q'", run.answers["q"])
    setattr(holder, name, value)
    with pytest.raises(ValueError, match=rf"{of}: .* cannot be stored: .*\. Use text, finite numbers"):
        run.save(tmp_path / "run.json")
    assert not (tmp_path / "run.json").exists()


@pytest.mark.parametrize("path", ["none/run.json", "a\0b.json", "\ud800.run", "x" * 300 + ".json", "."])
def test_a_path_that_cannot_be_written_or_read_is_said(tmp_path, path):
    with pytest.raises(ValueError, match=r"cannot be written: .*\."):
        Run({"q": ["d"]}).save(tmp_path / path)
    with pytest.raises(
        ValueError, match=r"There is no such file|no file|No file|This is a folder|Check the path"
    ):
        Run.load(tmp_path / path)


@pytest.mark.parametrize("name", ["run.json.gz", "run.gz", "run.json"])
def test_packed_data_that_is_damaged_is_said(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(FULL.encode() * 100)[:-9])
    with pytest.raises(ValueError, match=r"Its gzip data is cut short or damaged\. Pack it again"):
        Run.load(tmp_path / name)


# Reports --------------------------------------------------------------------------------------------------------------


def report(**runs):
    tests = [
        {"nodeid": f"test_it.py::test_it[{name}]", "run": None if run is None else json.loads(run.dumps())}
        for name, run in runs.items()
    ]
    return json.dumps({"format": "pytest-irmetrics report", "tests": [*tests, {"nodeid": "x"}, 5]}, indent=1)


SEVERAL = {"broken": None, "faq": Run.loads(FULL), "dense": Run({"q": ["a"]}), "faq-2": Run({})}


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("dense", SEVERAL["dense"]),
        ("test_it.py::test_it[faq]", SEVERAL["faq"]),
        ("faq-2", SEVERAL["faq-2"]),
        (None, r"has 3 runs, of 'test_it.py::test_it\[faq\]', .*`--test`.*test=request.node.nodeid"),
        ("test_it", "has 3 runs, of 'test_it.py"),
        ("faq", r"has 2 runs, of 'test_it.py::test_it\[faq\]', 'test_it.py::test_it\[faq-2\]'"),
        ("broken", r"has no run of a test 'broken', but runs of 'test_it.py::test_it\[faq\]', "),
    ],
)
def test_of_a_report_the_run_of_one_test_is_read(tmp_path, test, found):
    (tmp_path / "run.json").write_text(report(**SEVERAL))
    if isinstance(found, Run):
        assert Run.load(tmp_path / "run.json", test=test) == found
        return
    with pytest.raises(ValueError, match=rf"run\.json:1: {found}"):
        Run.load(tmp_path / "run.json", test=test)


def test_of_many_runs_in_a_report_five_are_named_and_long_names_are_cut():
    many = report(**{str(number) + "x" * 300: Run({}) for number in range(6)})
    with pytest.raises(ValueError, match="run:1: has 6 runs, of") as caught:
        Run.loads(many)
    names = [f"'test_it.py::test_it[{number}{'x' * 178}…'" for number in range(5)]
    assert f"of {', '.join(names)} and 1 more. Say whose is wanted" in str(caught.value)


def test_the_only_run_of_a_report_needs_no_name():
    assert Run.loads(report(broken=None, faq=Run.loads(FULL))) == Run.loads(FULL)
    with pytest.raises(ValueError, match="run:1: is a report without a run"):
        Run.loads(report(broken=None))


def test_a_full_disk_leaves_what_was_saved(tmp_path, monkeypatch):
    Run({"q": ["a"]}).save(tmp_path / "run.json")

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ValueError, match=r"run.json: cannot be written: No space left on device\."):
        Run({"q": ["b"]}).save(tmp_path / "run.json")
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    assert Run.load(tmp_path / "run.json")["q"] == ("a",)


def test_what_is_no_report_is_one_run_whatever_test_is_named(tmp_path):
    for name in ("run.json", "run.trec"):
        Run({"q": ["a"]}).save(tmp_path / name)
        assert Run.load(tmp_path / name, test="faq")["q"] == ("a",)


# Numbers at the ends of their ranges -----------------------------------------------------------------------------------

ENDS = [
    "0",
    "-0.0",
    "-1",
    "1e-400",
    "5e-324",
    "-5e-324",
    "1e-300",
    "1e-10",
    "0.9999999999999999",
    "1000",
    "1000.0000000000001",
    "1e9",
    "1e16",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "1e100",
    "1e155",
    "1.7976931348623157e308",
    "-1.7976931348623157e308",
    "1e309",
    "NaN",
    "Infinity",
    "true",
    "null",
    '"1"',
    "[]",
    "{}",
]
METRICS = ["mrr", "map", "ndcg@10", "ndcg(gain=exp)@10", "err(max=1000)", "rbp", "bpref", "judged"]
PLACES = [
    '"depth": 10',
    '"version": 1',
    '"relevance_level": 1',
    '"mrr": 0.5',
    '"weight": 2.0',
    '"d1": 2',
    '"rankings": [["d1"]]',
]


def read(text):
    """The run, or the words of the error."""
    try:
        return Run.loads(text, "base.json")
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("place", PLACES)
def test_each_end_at_each_number_is_refused_or_can_be_scored_compared_and_stored(place):
    key = place.partition(":")[0]
    for end in [*ENDS, "1" + 400 * "0", "1" + 5000 * "0"]:
        text = FULL.replace(place, f"{key}: {end}")
        run = read(text)
        if isinstance(run, str):
            assert re.match(r"base\.json:\d+: ", run)
            assert len(run) < 500
            continue
        assert Run.loads(run.dumps()) == run
        answer = run.answers["refund"]
        try:
            golden = GoldenSet.from_judgments(
                {"refund": answer.judgments or {"d1": 1}}, relevance_level=run.relevance_level or 1
            )
        except ValueError:
            continue
        now, before = (evaluate(golden, one, metrics=METRICS) for one in (run, Run({"refund": ["d2", "d9"]})))
        assert all(math.isfinite(now[name]) for name in METRICS)
        assert math.isfinite(compare(now, before)["ndcg@10"].delta)


@pytest.mark.parametrize(
    ("place", "least", "most"),
    [
        ('"d1": 2', "-1.7976931348623157e308", "1000"),
        ('"weight": 2.0', "1e-300", "1000000000"),
        ('"relevance_level": 1', "5e-324", "1000"),
        ('"mrr": 0.5', "-1.7976931348623157e308", "1.7976931348623157e308"),
        ('"depth": 10', "1", "9223372036854775808"),
    ],
)
def test_a_number_at_either_end_of_its_range_is_read(place, least, most):
    key = place.partition(":")[0]
    for end in (least, most):
        assert isinstance(read(FULL.replace(place, f"{key}: {end}")), Run)


@given(st.text(max_size=60) | st.integers(0, len(FULL) - 2).map(lambda end: FULL[:end]))
def test_what_is_cut_or_no_run_at_all_is_refused_in_a_line(text):
    with pytest.raises(ValueError, match=r"^run:\d+: .*\. .*\.$") as caught:
        Run.loads(text)
    assert "\n" not in str(caught.value)
