"""Runs: what is kept, what is written, and what is refused."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import unicodedata
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_irmetrics.run import Answer, Run, RunError
from pytest_irmetrics.run import json as json_form
from pytest_irmetrics.run import trec

ANSWER = Answer(
    rankings=(("d1", "d2"), ("d2",)),
    text="how do I reset my password",
    params={"lang": "no", "max": 500},
    judgments={"d1": 2, "d9": 0},
    weight=2.0,
    tags=("billing",),
)
RUN = Run.of(
    {"refund": ANSWER, "faq": Answer(((),), text="none")},
    depth=10,
    golden_set="golden/faq.yaml",
    relevance_level=1,
    means={"mrr": 0.5},
)
STORED = RUN.dumps()


IDS = st.text(st.characters(codec="utf-8"), max_size=3)
DOCUMENTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=3)
RUNS = st.dictionaries(
    IDS,
    st.builds(
        Answer,
        st.lists(st.lists(DOCUMENTS, unique=True, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple),
        st.none() | IDS,
        st.dictionaries(IDS, st.booleans() | IDS | st.integers() | st.lists(IDS), max_size=2),
        st.none() | st.dictionaries(IDS, st.integers(0, 3), max_size=2),
        st.none() | st.floats(0.5, 3),
        st.lists(IDS, max_size=2).map(tuple),
    ),
    max_size=3,
)


def outcome(path, **keywords):
    try:
        return Run.load(path, **keywords)
    except RunError as error:
        return str(error)


def with_care(path):
    """Read a file at once, whatever its layout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_form, "read_line_by_line", lambda *_: None)
        return outcome(path)


class TestLineByLine:
    def test_holds_what_a_run_like_it_holds_once(self, tmp_path):
        RUN.save(tmp_path / "run.json")
        like = Run({"refund": ["d2", "d1"], "faq": []})
        read = Run.load(tmp_path / "run.json", like=like)
        assert read == RUN
        assert read["refund"][0] is like["refund"][1]
        again = Run.load(tmp_path / "run.json", like=read)
        assert again["refund"] is read["refund"]

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(RUNS, RUNS)
    def test_reads_what_was_written(self, tmp_path, answers, others):
        run = Run.of(answers, 10, "golden/faq.yaml", 1, {"mrr": 0.5})
        run.save(tmp_path / "run.json")
        answers, header = json_form.read_line_by_line(tmp_path / "run.json", {})
        assert Run.of(answers, *header) == run
        like = Run.of({**others, **dict(list(answers.items())[:1])})
        assert outcome(tmp_path / "run.json", like=like) == run

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
    @given(st.data())
    def test_says_of_a_damaged_file_what_reading_it_at_once_says(self, tmp_path, data):
        text = STORED
        for _ in range(data.draw(st.integers(1, 2))):
            start = data.draw(st.integers(0, len(text)))
            end = data.draw(st.integers(start, len(text)))
            piece = data.draw(
                st.sampled_from(
                    [
                        "",
                        "",
                        ",",
                        "\n",
                        "{",
                        "}",
                        "]",
                        "NaN",
                        '"id": "faq"',
                        "\ufeff",
                        "\r\n",
                        "<<<<<<< a\n",
                        " ",
                        "\xa0",
                        "9" * 5000,
                    ]
                )
            )
            piece = data.draw(st.sampled_from([piece, text[start:end] * 2]))
            text = text[:start] + piece + text[end if data.draw(st.booleans()) else start :]
        (tmp_path / "run.json").write_text(text, encoding="utf-8", newline="")
        assert outcome(tmp_path / "run.json") == with_care(tmp_path / "run.json")

    @pytest.mark.parametrize(
        "text",
        [
            STORED.replace("\n", "\r\n"),
            "\ufeff" + STORED,
            json.dumps(json.loads(STORED)),
            json.dumps(json.loads(STORED), indent=1),
            STORED + " \n",
            STORED + " \n" * 20 + "x",
            STORED.replace("]\n}\n", "],\n}\n"),
            STORED.replace("},\n{", "}\n{"),
            STORED.replace("}\n]", "},\n]"),
            STORED.replace('"depth": 10,\n', '"depth": 10, "depth": 11,\n'),
            Run({}).dumps(),
            Run({}).dumps().replace("[\n", "[,\n"),
        ],
    )
    def test_other_layouts(self, tmp_path, text):
        (tmp_path / "run.json").write_text(text, encoding="utf-8", newline="")
        assert outcome(tmp_path / "run.json") == with_care(tmp_path / "run.json")


FIELDS = st.sampled_from(["q1", "q2", "q3"]), st.sampled_from(["d1", "d_2", "é", "d\x1c3", "d\xa04"])
SCORES = st.sampled_from(
    ["1", "2.5", "2.50", "-1e3", "inf", "0x1", "1_0", "nan", "-inf", "\u0663", "infinity"]
)


class TestTrecInColumns:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
    @given(
        st.lists(
            st.tuples(
                *FIELDS,
                st.sampled_from(["1", "2.5", "2.50", "-1e3", "inf", "7", "8", "9"]) | SCORES,
                st.sampled_from([" ", " ", " ", "\t", "  "]),
                st.sampled_from(["\n"] * 9 + ["\r\n", "\n\n", "\r", " x\n", " x", "\0\n", "\n \n"]),
            ),
            max_size=9,
        ),
        st.sampled_from(["", "", "\ufeff", "\n"]),
        st.integers(1, 60),
    )
    def test_is_what_reading_line_by_line_gives(self, tmp_path, rows, start, chunk):
        lines = [
            blank.join((query, "Q0", doc, "1", score, "tag")) + end for query, doc, score, blank, end in rows
        ]
        path = tmp_path / "run.trec"
        path.write_text(start + "".join(lines), encoding="utf-8", newline="")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trec_columns, "_CHUNK", chunk)
            read = outcome(path)
            patch.setattr(trec_columns, "read", lambda _: None)
            assert read == outcome(path)

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.dictionaries(st.tuples(*FIELDS), st.sampled_from(["1", "2", "2.0", "-3", "inf"]), min_size=1),
        st.integers(1, 60),
        st.randoms(),
    )
    def test_orders_what_is_well_formed_as_trec_eval_does(self, tmp_path, scores, chunk, rng):
        path = tmp_path / "run.trec"
        rows = list(scores.items())
        rng.shuffle(rows)
        path.write_text("".join(f"{query} Q0 {doc} 0 {score} t\n" for (query, doc), score in rows), "utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trec_columns, "_CHUNK", chunk)
            read = Run.of(trec_columns.read(path))
        for query in {query for query, _ in scores}:
            docs = sorted(((float(score), doc) for (of, doc), score in rows if of == query), reverse=True)
            assert read[query] == tuple(doc for _, doc in docs)

    def test_a_field_too_few_is_not_made_up_for_by_the_next_line(self, tmp_path):
        path = tmp_path / "run.trec"
        path.write_text("q1 Q0 a 1 2\nq1 Q0 b 2 1 7 x\n")
        with pytest.raises(RunError, match=r":1: 5 fields, not 6"):
            Run.load(path)

    def test_reads_what_is_well_formed_in_columns(self, tmp_path):
        path = tmp_path / "run.trec"
        path.write_bytes(b"q1 Q0 a 1 2 t\r\nq1\tQ0 b_1 2 2 t\n\nq2 Q0 \xc3\xa9 1 1 t\nq1 Q0 c 3 9 t")
        read = Run.of(trec_columns.read(path))
        assert {query: read[query] for query in read} == {"q1": ("c", "b_1", "a"), "q2": ("é",)}

    def test_not_utf8(self, tmp_path):
        path = tmp_path / "run.trec"
        path.write_bytes(b"q1 Q0 a 1 2 t\nq1 Q0 \xe9 1 1 t\n")
        with pytest.raises(RunError, match=r":2: is not UTF-8"):
            Run.load(path)


class TestRun:
    def test_is_a_mapping_from_query_to_ids(self):
        run = Run({"q1": ["d1", "d2"], "q2": []})
        assert run["q1"] == ("d1", "d2")
        assert run["q2"] == ()
        assert list(run) == ["q1", "q2"]
        assert len(run) == 2
        assert "q1" in run
        assert "q3" not in run

    def test_knows_the_first_of_several_repeats(self):
        assert RUN["refund"] == ("d1", "d2")

    def test_says_of_an_unknown_query_which(self):
        with pytest.raises(KeyError, match="q7"):
            Run({})["q7"]

    def test_equals_a_run_with_the_same_answers_and_header(self):
        assert Run({"q": ["a"]}) == Run({"q": ("a",)})
        assert Run({"q": ["a"]}) != Run({"q": ["b"]})
        assert Run({"q": ["a"]}) != Run.of({"q": Answer((("a",),))}, depth=10)
        assert Run({}) != {}

    def test_survives_copies_and_pickles(self):
        assert pickle.loads(pickle.dumps(RUN)) == RUN
        assert copy.deepcopy(RUN) == RUN

    def test_shows_its_size(self):
        assert repr(RUN) == "<Run: 2 queries, depth 10>"
        assert repr(Run({"q": []})) == "<Run: 1 query>"

    def test_orders_scores_as_trec_eval_does(self):
        run = Run({"q": {"a": 1.0, "b": 3, "c": 1.0}})
        assert run["q"] == ("b", "c", "a")

    def test_takes_integers_and_uuids_as_text(self):
        number = UUID(int=7)
        assert Run({3: [12, number]})["3"] == ("12", str(number))

    @pytest.mark.parametrize(
        ("ranking", "words"),
        [
            ("abc", "is a str"),
            (b"abc", "is a bytes"),
            ({"a", "b"}, "is a set"),
            (None, "is a NoneType"),
            (5, "is a int"),
            (["a", None], "not NoneType"),
            (["a", True], "not bool"),
            (["a", 1.0], "not float"),
            ([["a"]], "not list"),
            (["a", "b", "a"], "'a' is in it twice"),
            (["a", ""], "an id is empty"),
            ({"": 1.0}, "an id is empty"),
            ({"a": float("nan")}, "NaN"),
            ({"a": None}, "not a number"),
            ({None: 1.0}, "an id is text"),
        ],
    )
    def test_refuses_what_is_no_ranking(self, ranking, words):
        with pytest.raises(RunError, match="'q'") as caught:
            Run({"q": ranking})
        assert words in str(caught.value)

    def test_refuses_one_query_twice_and_ids_that_are_none(self):
        with pytest.raises(RunError, match="'1' comes twice"):
            Run({1: [], "1": []})
        with pytest.raises(RunError, match="not NoneType"):
            Run({None: []})


class TestJson:
    def test_has_one_query_a_line_in_the_order_of_the_ids(self):
        lines = STORED.splitlines()
        assert [line[:12] for line in lines if "rankings" in line] == ['{"id": "faq"', '{"id": "refu']
        assert json.loads(lines[-3]) == {
            "id": "refund",
            "text": "how do I reset my password",
            "params": {"lang": "no", "max": 500},
            "judgments": {"d1": 2, "d9": 0},
            "weight": 2.0,
            "tags": ["billing"],
            "rankings": [["d1", "d2"], ["d2"]],
        }

    def test_comes_back_as_it_was(self):
        assert Run.loads(STORED) == RUN
        assert Run.loads(STORED).dumps() == STORED

    def test_is_the_same_text_for_the_same_run(self):
        turned = Run.of(
            {
                "faq": RUN.answers["faq"],
                "refund": Answer(
                    rankings=ANSWER.rankings,
                    text=ANSWER.text,
                    params={"max": 500, "lang": "no"},
                    judgments={"d9": 0.0, "d1": 2.0},
                    weight=2,
                    tags=ANSWER.tags,
                ),
            },
            depth=10,
            golden_set="golden/faq.yaml",
            relevance_level=1.0,
            means={"mrr": 0.5},
        )
        assert turned == RUN
        assert turned.dumps() == STORED

    def test_keeps_the_texts_of_passages_sorted(self):
        passages = {"b: z": ("b", "z"), "a: y \u200b": ("a", "y \u200b")}
        run = Run.of({"q": Answer((("b: z", "a: y \u200b"),), passages=passages)})
        assert json.loads(run.dumps())["queries"][0]["passages"] == {
            key: list(pair) for key, pair in passages.items()
        }
        assert run.dumps().index('"a: y') < run.dumps().index('"b: z')
        assert Run.loads(run.dumps()) == run

    @pytest.mark.parametrize(
        ("passages", "words"),
        [
            ("[]", "query 'q': `passages` is not an object"),
            ('{"a": "b"}', "query 'q': `passages` does not lead to lists of two texts, document and passage"),
            ('{"a": ["b"]}', "two texts"),
            ('{"a": ["b", 1]}', "two texts"),
            ('{"a": ["b", "c", "d"]}', "two texts"),
        ],
    )
    def test_refuses_other_passages(self, passages, words):
        text = Run.of({"q": Answer((("a",),), passages={"a": ("b", "c")})}).dumps()
        with pytest.raises(RunError) as caught:
            Run.loads(text.replace('{"a": ["b", "c"]}', passages), "base.json")
        assert str(caught.value).startswith("base.json:5: ")
        assert words in str(caught.value)

    def test_is_read_also_after_a_formatter_and_with_other_line_ends(self):
        assert Run.loads(json.dumps(json.loads(STORED), indent=4)) == RUN
        assert Run.loads("\ufeff" + STORED.replace("\n", "\r\n")) == RUN

    @pytest.mark.parametrize(
        "character",
        [
            "\ud800",
            "\x00",
            "\x1b",
            "\x85",
            "\u2028",
            "\u202e",
            "\u2066",
            "\u200b",
            "\ufeff",
            "\U000e0041",
            "\x7f",
        ],
    )
    def test_escapes_what_hides_or_breaks_lines(self, character):
        run = Run({f"q{character}": [f"d{character}"]})
        text = run.dumps()
        assert character not in text
        assert text.encode("utf-8")
        assert Run.loads(text) == run

    def test_leaves_other_languages_readable(self):
        assert "blåbærsyltetøy 蓝莓 🫐" in Run({"blåbærsyltetøy 蓝莓 🫐": []}).dumps()

    @given(
        st.dictionaries(
            st.text(st.characters(codec="utf-8") | st.characters(categories=["Cs", "Cc", "Cf", "Zl"])).filter(
                lambda text: (
                    text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") == text
                    if not any("\ud800" <= c <= "\udfff" for c in text)
                    else len(text) < 2
                )
            ),
            st.lists(st.text(min_size=1), unique=True, max_size=5),
            max_size=5,
        )
    )
    @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def test_keeps_any_text(self, rankings):
        run = Run(rankings)
        text = run.dumps()
        assert Run.loads(text) == run
        assert text.encode("utf-8").decode("utf-8") == text
        # A category is None of: surrogate, control but for the line ends, line and paragraph separators.
        assert not {unicodedata.category(c) for c in text.replace("\n", "")} & {"Cs", "Cc", "Zl", "Zp"}

    @given(st.data())
    @settings(max_examples=150, deadline=None)
    def test_a_file_cut_anywhere_is_refused(self, data):
        cut = STORED[: data.draw(st.integers(0, len(STORED.rstrip()) - 1))]
        with pytest.raises(RunError, match=r"cut short|is empty"):
            Run.loads(cut, "base.json")

    @given(st.data())
    @settings(max_examples=300, deadline=None)
    def test_damage_is_refused_or_reads_as_a_run(self, data):
        place = data.draw(st.integers(0, len(STORED) - 1))
        damaged = (
            STORED[:place] + data.draw(st.text(max_size=3)) + STORED[place + data.draw(st.integers(0, 3)) :]
        )
        try:
            assert isinstance(Run.loads(damaged), Run)
        except RunError as error:
            assert str(error).startswith("run:")  # noqa: PT017 - either is right

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("{\n", "<<<<<<< HEAD\n{\n", "base.json:1: a conflict's marker"),
            ('"depth"', '=======\n"depth"', "base.json:5: a conflict's marker"),
            ('"version": 1', '"version": 2', "version 2 of the format"),
            ('"version": 1', '"version": ' + "9" * 400, "of the format"),
            ('"version": 1', '"version": true', "`version` is not a positive integer"),
            ('"version": 1,\n', "", "`version` is not a positive integer"),
            ('"pytest-irmetrics run"', '"other"', "`format` is 'other'"),
            ('"pytest-irmetrics run"', "[1]", "`format` is list"),
            (
                '"version": 1',
                '"version": 1,\n"version": 1',
                "base.json:4: the key 'version' is there twice, first in line 3",
            ),
            (
                '"max": 500',
                '"max": 500, "max": 5',
                "base.json:10: the key 'max' is there twice, first in line 10",
            ),
            ('"refund"', '"faq"', "base.json:10: query 'faq' is there twice, first in line 9"),
            ("500", "NaN", "base.json:10: NaN is not a finite number"),
            ("2.0", "-Infinity", "base.json:10: -Infinity is not a finite number"),
            ("500", "1e999", "base.json:10: 1e999 is not a finite number"),
            ("500", "9" * 5000, "thousands of digits"),
            ("500", "[" * 100_000, "nested too deeply"),
            ("500", "", "base.json:10: is not JSON"),
            (
                '"rankings"',
                '"ranking"',
                "base.json:9: query 'faq': the key 'ranking' is unknown (meant: `rankings`?)",
            ),
            ('"means"', '"xyz"', "base.json:1: the key 'xyz' is unknown"),
            ('["d1", "d2"]', '["d1", "d1"]', "'d1' is in it twice"),
            ('["d1", "d2"]', '["d1", ""]', "query 'refund': a ranking is wrong: an id in it is empty"),
            ('["d1", "d2"]', '["d1", 2]', "a ranking is not a list of ids"),
            ('[["d1", "d2"], ["d2"]]', "[]", "`rankings` is not a list of one ranking or more"),
            ('"id": "refund"', '"id": 5', "base.json:10: a query is not an object with the text `id`"),
            ('"weight": 2.0', '"weight": 0', "`weight` is not a number above 0"),
            ('"weight": 2.0', '"weight": true', "`weight` is not a number above 0"),
            ('"tags": ["billing"]', '"tags": "billing"', "`tags` is not a list of texts"),
            ('{"d1": 2, "d9": 0}', '{"d1": "2"}', "`judgments` is not an object of numbers"),
            ('{"lang": "no", "max": 500}', "[]", "`params` is not an object"),
            ('"text": "none"', '"text": 1', "`text` is not text"),
            ('"depth": 10', '"depth": 0', "`depth` is not a positive integer"),
            ('"golden/faq.yaml"', "3", "`golden_set` is not text"),
            ('"relevance_level": 1', '"relevance_level": "1"', "`relevance_level` is not a number"),
            ('{"mrr": 0.5}', '{"mrr": "0.5"}', "`means` is not an object of numbers"),
            ('"queries": [', '"queries": {}, "x": [', "unknown"),
        ],
    )
    def test_says_what_is_wrong_and_where(self, old, new, words):
        assert old in STORED
        with pytest.raises(RunError) as caught:
            Run.loads(STORED.replace(old, new, 1), "base.json")
        assert words in str(caught.value)
        assert str(caught.value).startswith("base.json:")
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        "text", ["[]", "null", "3", '"x"', "{}", "{} {}", "queries", "[" * 200_000, "\x00"]
    )
    def test_refuses_other_json(self, text):
        with pytest.raises(RunError):
            Run.loads(text)

    def test_refuses_a_head_without_queries(self):
        with pytest.raises(RunError, match="`queries` is not a list"):
            Run.loads('{"format": "pytest-irmetrics run", "version": 1}')

    def test_the_first_of_two_faults_is_told(self):
        with pytest.raises(RunError, match=r"^run:2: NaN is not a finite number"):
            Run.loads('{\n"version": NaN,\n"\\x": 1}')

    def test_finds_the_line_of_a_query_in_a_reformatted_file(self):
        text = json.dumps(json.loads(STORED.replace('"d1", "d2"', '"d1", "d1"')), indent=2)
        line = text[: text.index('"id": "refund"')].count("\n")
        with pytest.raises(RunError, match=rf"^run:{line}: "):
            Run.loads(text)

    @pytest.mark.parametrize(
        "answer",
        [
            Answer(((),), params={"x": {1, 2}}),
            Answer(((),), params={"x": float("nan")}),
            Answer(((),), params={"x": 1, 2: 3}),
            Answer(((),), judgments={"d": float("inf")}),
            Answer(((),), weight=float("nan")),
        ],
    )
    def test_refuses_to_store_what_json_cannot_hold(self, answer):
        with pytest.raises(RunError, match=r"query 'q': .* cannot be stored"):
            Run.of({"q": answer}).dumps()

    def test_params_that_hold_themselves_are_refused(self):
        params: dict[str, object] = {}
        params["self"] = params
        with pytest.raises(RunError, match="cannot be stored"):
            Run.of({"q": Answer(((),), params=params)}).dumps()

    def test_names_the_line_in_a_report(self):
        report = {
            "format": "pytest-irmetrics report",
            "tests": [{"queries": [{}, {}], "run": json.loads(STORED)}],
        }
        text = json.dumps(report, indent=1).replace('"d2"', '"d1"', 1)
        line = text[: text.index('"id": "refund"')].count("\n")
        with pytest.raises(RunError, match=rf"^run:{line}: "):
            Run.loads(text)


def report(**runs):
    """Write a report of tests with these runs."""
    tests = [
        {"nodeid": f"test_it.py::test_it[{name}]", "run": None if run is None else json.loads(run.dumps())}
        for name, run in runs.items()
    ]
    return json.dumps({"format": "pytest-irmetrics report", "tests": tests}, indent=1)


def asked(depth=10, golden_set="faq.yaml", level=1, **answers):
    """Make a run that a test recorded."""
    return Run.of(answers, depth, golden_set, level, {"mrr": 0.5})


class TestReports:
    A = Answer((("d1", "d2"),), "a", {"lang": "no"}, {"d1": 1}, 2.0, ("x", "y"))
    B = Answer((("d3",),), "b", {}, {"d3": 1}, 1.0)

    def test_the_only_run_is_the_report_s_run(self):
        assert Run.loads(report(broken=None, faq=RUN)) == RUN

    def test_runs_with_other_queries_are_one(self):
        read = Run.loads(report(faq=asked(a=self.A), movies=asked(golden_set="m.yaml", b=self.B)))
        assert read == Run.of({"a": self.A, "b": self.B}, 10, None, 1)
        assert Run.loads(report(faq=asked(a=self.A), movies=asked(b=self.B))).golden_set == "faq.yaml"

    def test_what_is_asked_twice_and_answered_alike_is_one_query(self):
        other = replace(self.A, judgments={"d2": 1}, weight=1.0, tags=("y",))
        read = Run.loads(report(faq=asked(a=self.A), movies=asked(a=other, b=self.B)))
        assert read.answers["a"] == Answer((("d1", "d2"),), "a", {"lang": "no"}, None, None, ("y",))
        assert read.answers["b"] == self.B
        assert Run.loads(report(faq=asked(a=self.A), movies=asked(a=self.A))).answers["a"] == self.A

    def test_grades_whose_levels_differ_are_not_kept(self):
        read = Run.loads(report(faq=asked(a=self.A), movies=asked(level=2, b=self.B)))
        assert read.relevance_level is None
        assert [answer.judgments for answer in read.answers.values()] == [None, None]
        assert read.answers["b"].weight == 1.0

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"text": "c"}, "another text"),
            ({"params": {}}, "other params"),
            ({"rankings": (("d2", "d1"),)}, "other rankings"),
            ({"rankings": (("d1", "d2"), ("d1", "d2"))}, "other rankings"),
            ({"passages": {"d1": ("d", "x")}}, "other passages"),
        ],
    )
    def test_what_is_answered_differently_is_refused_with_the_tests_and_a_cure(self, changes, words):
        both = report(first=asked(b=self.B), faq=asked(a=self.A), bm25=asked(a=replace(self.A, **changes)))
        with pytest.raises(RunError) as caught:
            Run.loads(both, "run.json")
        assert str(caught.value) == (
            f"run.json:1: is a report of 3 runs that cannot be one: the query 'a' has {words} in "
            "'test_it.py::test_it[faq]' than in 'test_it.py::test_it[bm25]'. Say whose run is wanted: "
            "`Run.load(path, test=request.node.nodeid)` in a fixture of function scope, or a part of a test's id that "
            "only its run has; on the command line `--test`. Or write a report of one test: `pytest NODEID --ir-report=json:PATH`."
        )

    def test_other_depths_are_refused(self):
        with pytest.raises(
            RunError, match=r"\[faq\]' was asked for 10 results a query, and .*\[b\]' for 100\."
        ):
            Run.loads(report(faq=asked(a=self.A), b=asked(depth=100, b=self.B)))

    def test_a_test_is_chosen_by_its_id_or_a_part_of_it(self, tmp_path):
        path = tmp_path / "run.json"
        other = asked(a=replace(self.A, text="c"))
        path.write_text(
            report(**{"faq-bm25": asked(a=self.A), "faq-dense": other, "m-dense": asked(b=self.B)})
        )
        assert Run.load(path, test="bm25") == asked(a=self.A)
        assert Run.load(path, test="test_it.py::test_it[faq-dense]") == other
        assert Run.load(path, test="dense").answers == {**other.answers, "b": self.B}
        with pytest.raises(RunError, match="a report of 2 runs that cannot be one"):
            Run.load(path, test="faq")

    def test_a_whole_id_is_that_test_alone(self, tmp_path):
        (tmp_path / "run.json").write_text(
            report(faq=asked(a=self.A)).replace("test_it.py::test_it[faq]", "t")
        )
        path = tmp_path / "two.json"
        path.write_text(
            json.dumps(
                {
                    "format": "pytest-irmetrics report",
                    "tests": [
                        {"nodeid": "x/t", "run": json.loads(asked(a=self.A).dumps())},
                        {"nodeid": "t", "run": json.loads(asked(b=self.B).dumps())},
                    ],
                }
            )
        )
        assert list(Run.load(path, test="t")) == ["b"]

    def test_what_is_not_chosen_is_not_read(self):
        text = report(faq=asked(a=self.A), movies=asked(b=self.B)).replace('"d3"\n', "5\n")
        assert json_form.read(text, "run", "faq")[0] == {"a": self.A}
        line = text[: text.index('"id": "b"')].count("\n")
        for test in ("movies", None):
            with pytest.raises(RunError, match=rf"^run:{line}: "):
                json_form.read(text, "run", test)

    def test_a_test_that_is_not_there_is_refused(self, tmp_path):
        many = {f"t{n}": asked(a=self.A) for n in range(7)}
        with pytest.raises(RunError) as caught:
            json_form.read(report(broken=None, **many), "run.json", "broken")
        assert str(caught.value).startswith(
            "run.json:1: has no run of a test 'broken': there is none of that name, or "
        )
        assert "There are runs of 'test_it.py::test_it[t0]', " in str(caught.value)
        assert "[t4]', …. Name one" in str(caught.value)
        RUN.save(tmp_path / "run.json")
        (tmp_path / "run.trec").write_text("q Q0 a 1 1 x\n")
        for name in ("run.json", "run.trec"):
            with pytest.raises(RunError, match=rf"{name}:1: is one run, and no report .* Leave the test out"):
                Run.load(tmp_path / name, test="faq")

    def test_a_report_without_a_run_is_refused(self):
        with pytest.raises(RunError, match="run:1: is a report without a run"):
            Run.loads(report(broken=None))


class TestFiles:
    def test_suffix_decides_the_format(self, tmp_path):
        run = Run({"q": ["a", "b"]})
        run.save(tmp_path / "run.json")
        run.save(tmp_path / "run.trec")
        assert (tmp_path / "run.json").read_bytes() == run.dumps().encode()
        assert (tmp_path / "run.trec").read_text() == (
            "q Q0 a 1 2 pytest-irmetrics\nq Q0 b 2 1 pytest-irmetrics\n"
        )
        assert Run.load(tmp_path / "run.json") == Run.load(str(tmp_path / "run.trec")) == run

    def test_a_missing_file_a_folder_and_a_path_that_cannot_be_written_are_said(self, tmp_path):
        with pytest.raises(RunError, match=r"none\.json: cannot be read: No such file"):
            Run.load(tmp_path / "none.json")
        with pytest.raises(RunError, match="cannot be read"):
            Run.load(tmp_path)
        with pytest.raises(RunError, match="cannot be written"):
            RUN.save(tmp_path / "none" / "run.json")

    def test_bytes_that_are_no_text_are_refused_with_the_line(self, tmp_path):
        for name in ("run.json", "run.trec"):
            (tmp_path / name).write_bytes(b"q Q0 d 1 1 x\nq Q0 \xe9 1 1 x\n")
            with pytest.raises(RunError, match=rf"{name}:2: is not UTF-8"):
                Run.load(tmp_path / name)


class TestTrec:
    @staticmethod
    def read(tmp_path, text):
        path = tmp_path / "base.run"
        path.write_text(text, encoding="utf-8", newline="")
        return Run.load(path)

    def test_orders_by_score_then_by_id_descending_and_ignores_the_rank(self, tmp_path):
        run = self.read(
            tmp_path,
            "q1 Q0 a 1 0.5 x\nq1 Q0 b 2 0.7 x\n\nq2\tQ0\tz\t9\t1e-3\tx\nq1 Q0 c 3 0.5 x\r\nq1 Q0 d 4 0.50000000000000011 x\n",
        )
        assert run == Run({"q1": ["b", "d", "c", "a"], "q2": ["z"]})

    def test_an_id_may_hold_what_is_white_space_elsewhere(self, tmp_path):
        assert self.read(tmp_path, "q\u3000x Q0 a\u00a0b\x1c 1 1 x\n")["q\u3000x"] == ("a\u00a0b\x1c",)

    def test_a_byte_order_mark_is_no_part_of_the_first_id(self, tmp_path):
        assert list(self.read(tmp_path, "\ufeffq Q0 a 1 1 x\n")) == ["q"]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "base.run:1: the file is empty"),
            ("\n \n", "base.run:1: the file is empty"),
            ("q Q0 a 1 1 x\nq Q0 a 1 1\n", "base.run:2: 5 fields, not 6"),
            ("q\n", "base.run:1: 1 field, not 6"),
            ("q 0 d 1\n", "base.run:1: 4 fields, not 6; judgments (qrels) have 4. Write"),
            ("q Q0 a 1 1 x\nq 0 d 1\n", "base.run:2: 4 fields, not 6. Write"),
            ("q Q0 a 1 1 x y\n", "base.run:1: 7 fields, not 6"),
            ("q Q0 a 1 high x\n", "base.run:1: the score 'high' is not a number"),
            ("q Q0 a 1 nan x\n", "base.run:1: the score 'nan' is not a number"),
            ("q Q0 a 1 1_0 x\n", "base.run:1: the score '1_0' is not a number"),
            ("q Q0 a 1 2 x\nq Q0 a 2 1 x\n", "base.run:2: the document 'a' comes twice for query 'q'"),
            ("q Q0 a 1 2 x\n<<<<<<< HEAD\n", "base.run:2: a conflict's marker"),
            ('{"format": "x"}\n', "base.run:1: looks like JSON"),
        ],
    )
    def test_says_what_is_wrong_and_where(self, tmp_path, text, words):
        with pytest.raises(RunError) as caught:
            self.read(tmp_path, text)
        assert words in str(caught.value)

    def test_says_of_a_packed_file_what_it_is(self, tmp_path):
        (tmp_path / "run.gz").write_bytes(gzip.compress(b"q Q0 a 1 1 x\n"))
        with pytest.raises(RunError, match=r"run\.gz:1: is compressed\. Unpack it"):
            Run.load(tmp_path / "run.gz")

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("a b", "holds white space"),
            ("a\n", "holds white space"),
            ("\ud800", "has no UTF-8"),
            ("a\tb", "holds white space"),
        ],
    )
    def test_refuses_to_write_what_would_read_otherwise(self, tmp_path, name, why):
        with pytest.raises(
            RunError, match=rf"cannot be an id in a TREC run: it {why}.*\. Save with the suffix"
        ):
            Run({"q": ["fine", name]}).save(tmp_path / "x.run")
        with pytest.raises(
            RunError, match=rf"cannot be an id in a TREC run: it {why}.*\. Give the query an `id`"
        ):
            Run({name: ["fine"]}).save(tmp_path / "x.run")
        assert not (tmp_path / "x.run").exists()

    def test_refuses_to_write_a_query_with_an_empty_id(self, tmp_path):
        with pytest.raises(RunError, match="cannot be an id in a TREC run: it is empty"):
            Run({"": ["fine"]}).save(tmp_path / "x.run")

    def test_refuses_a_query_that_starts_as_a_byte_order_mark(self, tmp_path):
        with pytest.raises(RunError, match="cannot be an id in a TREC run: it begins with a byte order mark"):
            Run({"\ufeffa": ["fine"]}).save(tmp_path / "x.run")

    @given(
        st.lists(
            st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\x0b\x0c\ufeff"), min_size=1),
            min_size=1,
            unique=True,
        )
    )
    @settings(max_examples=100, deadline=None)
    def test_what_is_written_reads_back(self, tmp_path_factory, ids):
        path = tmp_path_factory.getbasetemp() / "round.run"
        run = Run({"q": ids})
        run.save(path)
        assert Run.load(path) == run
