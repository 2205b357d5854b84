"""Make a `Run`, compare, copy and save it."""

from __future__ import annotations

import copy
import math
import pickle
from collections import UserList
from uuid import UUID

import pytest

from pytest_irmetrics.run import Answer, Run, RunError
from tests.unit.run.stored import RUN


class Spelled(str):
    """A text that prints as another."""

    __slots__ = ()

    def __str__(self):
        return "another"


class TestRun:
    def test_is_a_mapping_from_query_to_ids(self):
        run = Run({"q1": ["d1", "d2"], "q2": []})
        assert run["q1"] == ("d1", "d2")
        assert run["q2"] == ()
        assert list(run) == ["q1", "q2"]
        assert len(run) == 2
        assert "q1" in run
        assert "q3" not in run

    def test_knows_nothing_of_a_query_but_its_ranking(self):
        answer = Run({"q1": ["d1", "d2"]}).answers["q1"]
        assert answer == Answer(
            (("d1", "d2"),),
            text=None,
            params={},
            judgments=None,
            weight=None,
            tags=(),
            passages={},
            xfail=False,
        )

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

    @pytest.mark.parametrize("ids", [[Spelled("a"), "b"], ["b", Spelled("a")], ("b", Spelled("a"))])
    def test_ids_of_a_subclass_of_text_become_plain_text(self, ids):
        ranking = Run({Spelled("q"): ids})["q"]
        assert set(ranking) == {"a", "b"}
        assert {type(doc) for doc in ranking} == {str}

    def test_a_ranking_may_be_any_iterable_but_a_set(self):
        assert Run({"q": iter(["b", "a"])})["q"] == Run({"q": ("b", "a")})["q"] == ("b", "a")

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

    @pytest.mark.parametrize(("rankings", "kind"), [(None, "NoneType"), ([("q", ["a"])], "list")])
    def test_refuses_what_is_no_mapping_of_queries(self, rankings, kind):
        with pytest.raises(RunError, match=f"^the rankings are of type {kind}. Give a mapping of query id"):
            Run(rankings)

    def test_names_the_query_at_fault_among_many_that_are_right(self):
        right = {f"q{number}": ["a", "b"] for number in range(20)}
        for wrong, words in [
            (["a", "a"], "'a' is in it twice"),
            (["", "a"], "is empty"),
            ([None], "NoneType"),
        ]:
            with pytest.raises(RunError, match=f"query 'q7'.*{words}"):
                Run({**right, "q7": wrong})

    @pytest.mark.parametrize(
        "unusual", [("b", "a"), ("b", Spelled("a")), iter(["b", "a"]), {"a": 1, "b": 2}, UserList(["b", "a"])]
    )
    def test_unusual_rankings_may_stand_among_usual_ones(self, unusual):
        run = Run({"q1": ["a"], "q2": unusual, "q3": []})
        assert run == Run({"q1": ["a"], "q2": ["b", "a"], "q3": []})
        assert {type(doc) for doc in run["q2"]} == {str}
        assert list(run) == ["q1", "q2", "q3"]

    def test_does_not_change_with_the_lists_that_it_was_made_of(self):
        ranking = ["a", "b"]
        rankings = {"q": ranking}
        run = Run(rankings)
        ranking.append("c")
        rankings["q2"] = []
        assert dict(run.answers) == {"q": Answer((("a", "b"),))}
        assert run["q"] == ("a", "b")
        assert list(run) == ["q"]

    @pytest.mark.parametrize("asked", [False, True])
    def test_is_the_same_whether_its_answers_were_asked_for_or_not(self, asked):
        run, other = Run({"q1": ["a"], "q2": []}), Run({"q1": ["a"], "q2": []})
        if asked:
            assert run.answers["q1"] == Answer((("a",),))
        assert run == other == pickle.loads(pickle.dumps(run)) == copy.deepcopy(run) == copy.copy(run)
        assert run == Run.of({"q1": Answer((("a",),)), "q2": Answer(((),))})
        assert len(run) == 2
        assert list(run) == ["q1", "q2"]

    def test_refuses_one_query_twice_and_ids_that_are_none(self):
        with pytest.raises(RunError, match="'1' comes twice"):
            Run({1: [], "1": []})
        with pytest.raises(RunError, match="not NoneType"):
            Run({None: []})


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


@pytest.mark.parametrize("scores", [{"a": 1.0, "b": math.nan}, {"a": math.nan, "b": 1.0}, {"a": math.nan}])
def test_one_score_that_is_no_number_is_refused(scores):
    with pytest.raises(RunError, match="a score is NaN"):
        Run({"q": scores})
