"""Command `baselines move`: carry baselines over where a golden set was renamed or split."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_irmetrics import cli
from pytest_irmetrics.run import Answer, Run
from pytest_irmetrics.run.baseline import baseline_path

FAQ = "queries:\n  - {query: a, relevant: [d1]}\n  - {query: b, relevant: [d2]}\n"


def store(test, golden_set="golden/faq.yaml", file="tests/test_search.py"):
    path = baseline_path(Path(file), test, "ir_baselines")
    path.parent.mkdir(parents=True, exist_ok=True)
    answers = {
        "a": Answer((("d1",),), "a", {}, {"d1": 1}, 1.0),
        "b": Answer((("d9", "d2"),), "b", {}, {"d2": 1}, 1.0),
    }
    Run.of(answers, 10, golden_set, 1, {"mrr": 0.75, "mine": 0.5}).save(path)
    return path.as_posix()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("tests/golden").mkdir(parents=True)
    Path("tests/golden/questions.yaml").write_text(FAQ)
    Path("tests/test_search.py").write_text("")
    return tmp_path


def move(capsys, *arguments, status=0):
    assert cli.main(["baselines", "move", *arguments]) == status
    return capsys.readouterr()


def stored():
    return {
        path.relative_to("tests/ir_baselines").as_posix(): Run.load(path).golden_set
        for path in sorted(Path("tests/ir_baselines").glob("*/*.json"))
    }


def test_a_rename_moves_the_baselines_of_every_test_and_parameter(capsys):
    store("test_it[faq-bm25]")
    store("test_it[dense-faq]")
    store("TestIt.test_that[faq]")
    store("test_it[faqs]", "golden/faqs.yaml")
    out, err = move(capsys, "tests/golden/faq.yaml", "tests/golden/questions.yaml")
    assert err == ""
    assert out.splitlines() == [
        "tests/ir_baselines/test_search/TestIt.test_that[faq].json → tests/ir_baselines/test_search/TestIt.test_that[questions].json",
        "tests/ir_baselines/test_search/test_it[dense-faq].json → tests/ir_baselines/test_search/test_it[dense-questions].json",
        "tests/ir_baselines/test_search/test_it[faq-bm25].json → tests/ir_baselines/test_search/test_it[questions-bm25].json",
        "3 baselines moved to tests/golden/questions.yaml.",
    ]
    assert stored() == {
        "test_search/TestIt.test_that[questions].json": "golden/questions.yaml",
        "test_search/test_it[dense-questions].json": "golden/questions.yaml",
        "test_search/test_it[faqs].json": "golden/faqs.yaml",
        "test_search/test_it[questions-bm25].json": "golden/questions.yaml",
    }
    run = Run.load("tests/ir_baselines/test_search/test_it[questions-bm25].json")
    assert (run.means, run.depth, run["b"]) == ({"mrr": 0.75, "mine": 0.5}, 10, ("d9", "d2"))


@pytest.mark.parametrize(
    ("old", "before", "new", "after"),
    [
        ("golden/faq.yaml", "[faq]", "golden/faq.jsonl", "[faq]"),
        ("golden/faq.yaml", "[faq]", "golden/Über uns.yaml", "[\\xdcber uns]"),
        ("golden/FAQ.yaml", "[FAQ-bm25]", "golden/questions.yaml", "[questions-bm25]"),
        ("golden/é.yaml", "[\\xe9]", "golden/questions.yaml", "[questions]"),
        ("golden/shop/faq.yaml", "[shop-faq]", "golden/store/faq.yaml", "[store-faq]"),
        ("golden/shop/faq.yaml", "[faq]", "golden/shop/sub/q.yaml", "[sub-q]"),
        ("golden/shop/faq.yaml", "[golden-shop-faq]", "golden/other/q.yaml", "[golden-other-q]"),
        ("golden/faq.yaml", "[faq]", "other/q.yaml", "[q]"),
        ("golden/faq.yaml", "[questions-bm25]", "golden/questions.yaml", "[questions-bm25]"),
        ("golden/faq.yaml", "", "golden/questions.yaml", ""),
        ("golden/faq.yaml", "[bm25]", "golden/questions.yaml", "[bm25]"),
    ],
)
def test_the_name_follows_the_id_of_the_golden_set(capsys, old, before, new, after):
    store(f"test_it{before}", old)
    Path("tests", new).parent.mkdir(exist_ok=True, parents=True)
    Path("tests", new).write_text(FAQ if new.endswith("yaml") else '{"query": "a", "relevant": ["d1"]}\n')
    move(capsys, f"tests/{old}", f"tests/{new}")
    path = baseline_path(Path("tests/test_search.py"), f"test_it{after}", "ir_baselines")
    assert stored() == {f"test_search/{path.name}": new}


def test_a_split_gives_each_golden_set_its_answers_and_their_means(capsys):
    store("test_it[faq-bm25]")
    Path("tests/golden/one.yaml").write_text("queries:\n  - {query: a, relevant: [d1]}\n")
    Path("tests/golden/two.yaml").write_text("queries:\n  - {query: x, relevant: [d1]}\n")
    _, err = move(capsys, "tests/golden/faq.yaml", "tests/golden/one.yaml", "tests/golden/two.yaml")
    assert err == "note: 1 stored query is in no golden set that was named: b.\n"
    assert stored() == {"test_search/test_it[one-bm25].json": "golden/one.yaml"}
    store("test_it[faq-bm25]")
    Path("tests/golden/faq.yaml").write_text("queries:\n  - {query: b, relevant: [d2]}\n")
    Path("tests/ir_baselines/test_search/test_it[one-bm25].json").unlink()
    move(capsys, "tests/golden/faq.yaml", "tests/golden/one.yaml", "tests/golden/faq.yaml")
    runs = {name: Run.load(f"tests/ir_baselines/{name}") for name in stored()}
    assert {name: (list(run), run.means) for name, run in runs.items()} == {
        "test_search/test_it[faq-bm25].json": (["b"], {"mrr": 0.5}),
        "test_search/test_it[one-bm25].json": (["a"], {"mrr": 1.0}),
    }


def test_queries_that_no_golden_set_holds_are_named(capsys):
    store("test_it[faq]")
    Path("tests/golden/questions.yaml").write_text("queries:\n  - {query: a, relevant: [d1]}\n")
    out, err = move(capsys, "tests/golden/faq.yaml", "tests/golden/questions.yaml")
    assert out.splitlines()[-1] == "1 baseline moved to tests/golden/questions.yaml."
    assert err == "note: 1 stored query is in no golden set that was named: b.\n"


def test_no_baseline_is_replaced_and_then_none_is_moved(capsys):
    store("test_it[dense-faq]")
    store("test_it[faq]")
    store("test_it[questions]", "golden/other.yaml")
    before = stored()
    _, err = move(capsys, "tests/golden/faq.yaml", "tests/golden/questions.yaml", status=1)
    assert err == (
        "tests/ir_baselines/test_search/test_it[questions].json: is there already, and "
        "tests/ir_baselines/test_search/test_it[faq].json would take its place. Delete the one that is not to be kept.\n"
    )
    assert stored() == before


@pytest.mark.parametrize("ids", ["[faq-faq]", "[faq-ä-\\u1234]" + "x" * 120])
def test_a_name_that_does_not_tell_is_an_error(capsys, ids):
    store(f"test_it{ids}")
    before = stored()
    _, err = move(capsys, "tests/golden/faq.yaml", "tests/golden/questions.yaml", status=1)
    assert "cannot be told from its name. Store that test's baseline anew" in err
    assert stored() == before


def test_nothing_to_move(capsys):
    _, err = move(capsys, "tests/golden/faq.yaml", "tests/golden/questions.yaml", status=1)
    assert err == (
        "tests/golden/faq.yaml: No baseline in a folder ir_baselines of this project is of this golden set. "
        "`pytest-irmetrics baselines list` names the golden set of each.\n"
    )


def test_a_golden_set_that_cannot_be_read_moves_nothing(capsys):
    store("test_it[faq]")
    _, err = move(capsys, "tests/golden/faq.yaml", "tests/golden/none.yaml", status=1)
    assert err.startswith("tests/golden/none.yaml:1:1: There is no such file.")
