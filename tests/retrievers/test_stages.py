"""What a retriever tells of earlier stages with `staged`: read in every way of asking, said where a document was lost, never stored."""

from __future__ import annotations

import json
import re
from concurrent.futures import ProcessPoolExecutor

import pytest

from pytest_irmetrics import Run, batched, evaluate, staged
from tests.projects import ANSWERS, printed, text_of
from tests.retrievers import shapes
from tests.retrievers.ways import answered, ask, golden_of, outcome

STAGES = {"candidates": ["x", "doc-40", "y", "doc-12"], "dense": [("doc-4", 0.9), ("doc-40", 0.8)]}

CONFTEST = """
    import asyncio, json, pathlib, pytest
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    from pytest_irmetrics import batched, staged

    ANSWERS = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
    STAGES = json.loads(pathlib.Path(__file__).with_name("stages.json").read_text(encoding="utf-8"))

    def search(query, k):
        stages = {name: [tuple(one) if type(one) is list else one for one in held] for name, held in STAGES.items()}
        return staged(ANSWERS.get(query, [])[:k], **stages) if stages else ANSWERS.get(query, [])[:k]

    async def asearch(query, k):
        await asyncio.sleep(0)
        return search(query, k)

    def several(queries, k):
        return [search(query, k) for query in queries]

    @pytest.fixture(scope="session")
    def retriever():
        return RETRIEVER

    @pytest.fixture(scope="session")
    def ir_executor():
        return EXECUTOR
"""


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")


def tell(project, stages=STAGES, retriever="search", executor="None"):
    """Let the project's retriever tell of these stages at every query."""
    project.write("stages.json", json.dumps(stages))
    project.write("conftest.py", CONFTEST.replace("RETRIEVER", retriever).replace("EXECUTOR", executor))


def lose_reset(project):
    project.answers({**ANSWERS, "how do I reset my password": ["doc-3", "doc-5", "doc-6"]})


@pytest.mark.parametrize(
    ("retriever", "executor", "options"),
    [
        ("search", "None", ""),
        ("search", "None", "-o ir_concurrency=3"),
        ("asearch", "None", "-o ir_concurrency=3 -o ir_timeout=600"),
        ("batched(several, 2)", "None", ""),
        ("search", "ThreadPoolExecutor(2)", "--ir-repeat=2"),
    ],
)
def test_however_it_asks_a_failure_says_where_each_document_still_is(project, retriever, executor, options):
    project.store()
    tell(project, retriever=retriever, executor=executor)
    lose_reset(project)
    report = project.path / "r.json"
    said = text_of(project.run("--ir-baseline", "-vv", f"--ir-report={report}", *options.split()))
    once = (
        ", the first time that each query was asked" if "--ir-repeat=2" in options else ""
    )  # as lost are averages
    assert f"By stage{once}: of 2 relevant documents lost, 2 are still among the candidates." in said
    assert "- 1 1 doc-12 rank 4 of candidates - 3 1 doc-40 rank 2 of candidates, rank 2 of dense" in said
    assert re.search(r"recall of candidates 3 0\.3333 .*recall of dense 3 0\.3333", said)
    (test,) = json.loads(report.read_text(encoding="utf-8"))["tests"]
    assert test["queries"][0]["stages"] == {"candidates": {"doc-40": 2, "doc-12": 4}, "dense": {"doc-40": 2}}


def test_processes_send_stages_back():
    with ProcessPoolExecutor(1) as executor:
        found = ask(search_in_stages, ["text 0"], executor=executor)
    assert answered(found) == {"text 0": ["a"]}


def search_in_stages(query, _k=10):
    return staged(["a"], candidates=["a", query])


def test_of_several_stages_each_document_counts_at_the_first_named(project):
    project.store()
    tell(project, {"candidates": ["doc-12"], "dense": ["doc-40", "doc-12"], "bm25": [], "rest": ["doc-9"]})
    project.answers({"refund policy": ["doc-9"], "opening hours": ["doc-1"]})
    said = text_of(project.run("--ir-baseline"))
    assert "of 3 relevant documents lost, 1 is still among the candidates, 1 in dense, 1 in no stage." in said
    assert "in no stage. Nothing relevant is in bm25 for any query." in said
    assert said.count("Nothing relevant is") == 1
    assert (
        "rank 1 → gone, rank 1 of candidates, rank 2 of dense; doc-40 (grade 1): rank 3 → gone, rank 1 of dense"
        in said
    )
    assert "- 2 1 doc-4 in no stage" in text_of(project.run("--ir-baseline", "-vv"))
    tell(project, {"candidates": [], "bm25": ["doc-7"]})
    said = text_of(project.run("--ir-baseline"))
    assert "By stage: of 3 relevant documents lost, 3 are in no stage." in said
    assert "Nothing relevant is" not in said
    project.edit("golden/faq.yaml", "doc-40]", "doc-40, doc-90]")
    assert "- - 1 doc-90 in no stage" in text_of(project.run("--ir-baseline", "-vv"))


def test_without_a_fall_it_speaks_of_what_was_not_found(project):
    tell(project)
    lose_reset(project)
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.9)'])
    said = text_of(project.run())
    assert "of 2 relevant documents not found, 2 are still among the candidates." in said
    assert (
        "doc-12 (grade 1, rank 4 of candidates); doc-40 (grade 1, rank 2 of candidates, rank 2 of dense)"
        in said
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("latency_p95", max=0)'])
    assert "By stage: " not in text_of(project.run())
    queries = [{"query": f"q{n}", "relevant": "doc-40"} for n in range(1001)]
    project.write("golden/faq.yaml", json.dumps({"thresholds": {"mrr": 0.9}, "queries": queries}))
    assert "of 1,001 relevant documents not found, 1,001 are still among" in text_of(project.run())


def test_what_was_never_found_is_said_beside_what_moved(project):
    project.answers({**ANSWERS, "how do I reset my password": ["doc-12"]})
    project.store()
    tell(project)
    project.answers({**ANSWERS, "how do I reset my password": ["doc-3", "doc-5", "doc-12"]})
    said = text_of(project.run("--ir-baseline"))
    assert "doc-12 (grade 1): rank 1 → 3 above it now" in said
    assert "not among the 3 results: doc-40 (grade 1, rank 2 of candidates, rank 2 of dense)" in said
    assert "By stage: " not in said


def test_every_report_says_it_and_the_baseline_holds_nothing_of_it(project):
    project.store()
    stored = project.baseline.read_bytes()
    tell(project)
    project.store()
    assert project.baseline.read_bytes() == stored
    lose_reset(project)
    tell(project, {**STAGES, "a <b>|`*_": ["doc-12"]})
    project.run("--ir-baseline", *(f"--ir-report=r.{suffix}" for suffix in ("html", "md", "json")))
    for suffix in ("html", "md", "json"):
        text = " ".join((project.path / f"r.{suffix}").read_text(encoding="utf-8").split())
        assert "of 2 relevant documents lost, 2 are still among the candidates." in text
        assert "recall of candidates" in text
        assert ("rank 4 of candidates" in text) is (suffix != "json")
        assert "<b>|" not in text or suffix == "json"


def test_output_and_reports_are_as_ever_without_stages(project):
    project.store()
    lose_reset(project)
    report = project.path / "r.json"
    project.run("--ir-baseline", f"--ir-report={report}")
    without = report.read_text(encoding="utf-8")
    assert '"stages"' not in without
    assert '"provenance"' not in without
    tell(project, {})
    said = text_of(project.run("--ir-baseline", "-vv"))
    assert "recall of" not in said
    assert "By stage: " not in said
    assert "in no stage" not in said


def test_known_stages_take_the_place_of_a_guess(project):
    """That what is new stands below what stayed is said to come of the search before ranking; of candidates it is known."""
    queries = [f"q{n}" for n in range(12)]
    project.write(
        "golden/faq.yaml",
        "queries:\n" + "".join(f"- {{query: {q}, relevant: [a{q}, f{q}]}}\n" for q in queries),
    )
    before = [*"abcdefghij"]
    project.answers({q: [f"{one}{q}" for one in before] for q in queries})
    project.store()
    project.answers({q: [f"{one}{q}" for one in "bdefghijxy"] for q in queries})
    said = text_of(project.run("--ir-baseline"))
    assert "lost before the ranking, or far down in it" in said
    assert "Missing judgments?" not in said  # what is new took no place from what was lost
    tell(project, {"candidates": [f"a{q}" for q in queries]})
    said = text_of(project.run("--ir-baseline"))
    assert "before the ranking" not in said
    assert "12 relevant documents left the first 10" in said
    assert "of 12 relevant documents lost, 12 are still among the candidates." in said
    assert "Missing judgments?" not in said
    assert " label " not in said
    for still_there, is_asked in ((6, False), (5, True)):
        tell(project, {"candidates": [f"a{q}" for q in queries[:still_there]]})
        said = text_of(project.run("--ir-baseline"))
        assert f"lost, {still_there} are still among the candidates, {12 - still_there} in no stage." in said
        assert ("Missing judgments?" in said) is is_asked


def test_passages_are_found_at_stages_too(project):
    project.write(
        "golden/faq.yaml",
        "queries:\n- query: refund\n  relevant: [{doc: handbook, text: thirty days after}]\n",
    )
    project.write(
        "conftest.py",
        """
        import pytest
        from pytest_irmetrics import staged

        @pytest.fixture
        def retriever():
            chunks = [{"id": f"c{n}", "source": "handbook", "text": text} for n, text in enumerate(["x", "y", "paid thirty days after it"])]
            return lambda query, k: staged(chunks[:1], candidates=chunks)
        """,
    )
    said = text_of(project.run())
    assert "of 1 relevant passage not found, 1 is still among the candidates." in said
    assert "rank 3 of candidates" in said
    assert "in any returned chunk" not in said  # the candidates hold it whole: no border cuts it


def test_a_stage_takes_what_a_ranking_takes_and_of_any_length(way):
    told = {
        "text 0": staged(["a"], candidates={"a": 1.0, "b": 2.0}, dense=iter([("a", 0.5)] * 3)),
        "text 1": staged(iter("ab"), **{"first pass": [f"d{n}" for n in range(1000)], "empty": []}),
        "text 2": ["c"],
    }
    found = way(lambda query, _: told.pop(query), list(told))
    assert not found.errors
    assert answered(found) == {"text 0": ["a"], "text 1": ["a", "b"], "text 2": ["c"]}


@pytest.mark.parametrize(("expression", "key"), shapes.REFUSED)
def test_a_stage_that_cannot_be_read_is_named(expression, key):
    answer = shapes.value(expression)
    said = outcome(ask(lambda _query: staged(["a"], candidates=["b"], dense=answer)))
    if "and again at rank" in key or isinstance(said, list):  # the first of each counts
        assert said == ["a"]
    else:
        assert said.startswith("at the stage 'dense': ")
        assert key.strip() in said


@pytest.mark.parametrize(
    ("retriever", "says"),
    [
        ("lambda _: staged(None, dense=[])", "came back: None"),
        ("lambda _: staged(staged(['a']), dense=[])", "came back: Staged"),
        (
            "lambda _: staged(['a'], dense=(1 / 0 for _ in 'a'))",
            "at the stage 'dense': raised ZeroDivisionError",
        ),
        ("lambda _: staged(['a'], dense=[('a', 1.0), ('b', 2.0)])", "return ids alone"),
        ("lambda _: staged(ranking=['a'])", "TypeError"),
        ("batched(lambda _: staged(['a'], dense=[]))", "A batched retriever returns a list"),
    ],
)
def test_what_is_wrong_with_a_staged_answer_is_said(retriever, says):
    assert says in outcome(ask(eval(retriever)))


def test_from_python_the_final_ranking_is_scored_and_saved(tmp_path):
    now = evaluate(golden_of(["text 0"]), search_in_stages, ["mrr"])
    now.run.save(tmp_path / "run.json")
    assert dict(Run.load(tmp_path / "run.json").answers)["text 0"].rankings == (("a",),)
    assert "candidates" not in (tmp_path / "run.json").read_text(encoding="utf-8")
    assert (
        evaluate(golden_of(["text 0"]), batched(lambda queries: [search_in_stages(*queries)]), ["mrr"]).run
        == now.run
    )


def test_a_stage_of_one_query_alone_counts_there(project):
    project.store()
    project.retrieve(
        "__import__('pytest_irmetrics').staged(['x'], candidates=['y', 'doc-9']) if 'refund' in query else answers.get(query)"
    )
    result = project.run("--ir-baseline", "-v")
    assert "of 2 relevant documents lost, 1 is still among the candidates, 1 in no stage." in printed(result)
    assert re.search(r"recall of candidates +1 +0\.5000", printed(result))
