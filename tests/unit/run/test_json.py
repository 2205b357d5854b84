"""Write a run as JSON and read it back."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_irmetrics.run import Answer, Run, RunError
from tests.unit.run.stored import ANSWER, RUN, STORED

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

    def test_has_its_means_in_the_order_of_their_names(self):
        run = Run.of({}, means={"recall@10": 1, "mrr": 0.5, "ndcg@10": 0.25, "map": 0.75})
        assert '"means": {"map": 0.75, "mrr": 0.5, "ndcg@10": 0.25, "recall@10": 1.0},\n' in run.dumps()

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
        words = "blåbærsyltetøy 蓝莓 🫐"
        answer = Answer(((words,),), words, {words: words}, {words: 1}, 1.0, (words,), {words: ("d", words)})
        written = Run.of({words: answer}, 10, words, 1, {words: 0.5}).dumps()
        assert written.count(words) == 11
        assert "\\u" not in written

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

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ("{\n", "<<<<<<< HEAD\n{\n", "base.json:1: is in a merge conflict"),
            ('"depth"', '=======\n"depth"', "base.json:5: is in a merge conflict"),
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


VALID = [
    STORED.replace("\n", "\r\n"),
    "\ufeff" + STORED,
    json.dumps(json.loads(STORED)),
    json.dumps(json.loads(STORED), indent=1),
    json.dumps(json.loads(STORED), indent=1, sort_keys=True),
    json.dumps(dict(reversed(json.loads(STORED).items()))),
    STORED + " \n",
]
DAMAGED = [
    STORED + " \n" * 20 + "x",
    STORED.replace("]\n}\n", "],\n}\n"),
    STORED.replace("},\n{", "}\n{"),
    STORED.replace("}\n]", "},\n]"),
    STORED.replace('"depth": 10,\n', '"depth": 10, "depth": 11,\n'),
    STORED.replace('"queries": [', '"queries": [], "queries": ['),
    Run({}).dumps().replace("[\n", "[,\n"),
]

PIECES = [
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


class TestLayouts:
    """A run is read however its JSON is laid out, and whatever is wrong with it is said in one line."""

    @pytest.mark.parametrize("text", VALID)
    def test_any_layout_is_the_same_run(self, tmp_path, text):
        (tmp_path / "run.json").write_text(text, encoding="utf-8", newline="")
        assert Run.load(tmp_path / "run.json") == RUN

    @pytest.mark.parametrize("text", DAMAGED)
    def test_what_is_no_strict_json_is_refused(self, text):
        with pytest.raises(
            RunError, match=r"^run:\d+: (is not JSON|the file was cut short|the key .* is there twice)"
        ):
            Run.loads(text)

    def test_a_fault_of_the_file_is_told_before_that_of_a_query(self):
        text = STORED.replace('"text": "none"', '"text": 1')
        with pytest.raises(RunError, match="`text` is not text"):
            Run.loads(text)
        with pytest.raises(RunError, match="is not JSON"):
            Run.loads(text.replace("]\n}\n", "]]\n}\n"))
        with pytest.raises(RunError, match="`depth` is not a positive integer"):
            Run.loads(json.dumps({**json.loads(text), "depth": 0}))

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(RUNS, RUNS)
    def test_what_was_written_reads_back_beside_any_other_run(self, tmp_path, answers, others):
        run = Run.of(answers, 10, "golden/faq.yaml", 1, {"mrr": 0.5})
        run.save(tmp_path / "run.json")
        like = Run.of({**others, **dict(list(answers.items())[:1])})
        assert Run.load(tmp_path / "run.json", like=like) == run

    def test_what_a_run_like_it_has_is_in_memory_once(self, tmp_path):
        RUN.save(tmp_path / "run.json")
        like = Run({"refund": ["d2", "d1"], "faq": []})
        read = Run.load(tmp_path / "run.json", like=like)
        assert read == RUN
        assert read["refund"][0] is like["refund"][1]
        again = Run.load(tmp_path / "run.json", like=read)
        assert again["refund"] is read["refund"]

    @settings(max_examples=300)
    @given(st.data())
    def test_a_damaged_file_is_a_run_or_an_error_of_one_line_with_its_place(self, data):
        text = STORED
        for _ in range(data.draw(st.integers(1, 2))):
            start = data.draw(st.integers(0, len(text)))
            end = data.draw(st.integers(start, len(text)))
            piece = data.draw(st.sampled_from([*PIECES, text[start:end] * 2]) | st.text(max_size=3))
            text = text[:start] + piece + text[end if data.draw(st.booleans()) else start :]
        try:
            read = Run.loads(text)
        except RunError as error:
            read, message = None, str(error)
        if read is None:
            assert re.match(r"run:\d+: ", message)
            assert message.isprintable()
        else:
            json.loads(text.removeprefix("\ufeff"))
            assert Run.loads(read.dumps()) == read
