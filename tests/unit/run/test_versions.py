"""Many versions of one stored run: each query's line is parsed once."""

from __future__ import annotations

import json

import pytest

from pytest_irmetrics.run import Answer, Run, RunError
from pytest_irmetrics.run.versions import RunVersions


def version(*changed, count=4):
    answers = {
        f"q{n}": Answer((("d", f"x{n}"),), f"text {n}", {"a": [1]}, {"d": 1, "e": 2}, 2.0, ("t",))
        for n in range(count)
    }
    answers |= {query_id: Answer((("e", "d"),), "other", {}, {"d": 1}, 1.0) for query_id in changed}
    return Run.of(answers, 10, "golden/faq.yaml", 1, {"mrr": 0.5})


def test_each_version_is_the_run_that_it_is_alone():
    reader = RunVersions()
    for run in (
        version(),
        version("q1"),
        version("q1", "q3"),
        version(count=2),
        version("new"),
        Run.of({}, 3),
    ):
        assert reader.read(run.dumps().encode(), "a.json") == run


def test_a_line_that_two_versions_have_is_one_answer():
    reader = RunVersions()
    one = reader.read(version().dumps().encode(), "a.json")
    other = reader.read(version("q1").dumps().encode(), "a.json")
    assert one.answers["q0"] is other.answers["q0"]
    assert one.answers["q1"] is not other.answers["q1"]


def test_a_version_with_other_line_ends_or_another_layout_is_read_too():
    reader = RunVersions()
    text = version().dumps()
    assert reader.read(text.replace("\n", "\r\n").encode(), "a.json") == version()
    assert reader.read(json.dumps(json.loads(text), indent=2).encode(), "a.json") == version()
    assert reader.read(b"\xef\xbb\xbf" + text.encode(), "a.json") == version()
    joined = text.replace(",\n{", ",{")
    assert reader.read(joined.encode(), "a.json") == version()


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda text: text[:-20], "cut short"),
        (lambda text: text.replace('"id": "q1"', '"id": "q0"'), "there twice"),
        (lambda text: text.replace('"version": 1', '"version": 7'), "version 7 of the format"),
        (lambda text: text.replace('{"id": "q2"', "<<<<<<< HEAD\n{"), "conflict"),
        (lambda text: text.replace('"rankings": [["d", "x3"]]', '"rankings": 3'), "a.json:12: query 'q3'"),
        (lambda _: "", "empty"),
    ],
)
def test_a_broken_version_is_refused_as_it_is_alone(broken, said):
    reader = RunVersions()
    text = version().dumps()
    reader.read(text.encode(), "a.json")
    with pytest.raises(RunError) as alone:
        Run.loads(broken(text), "a.json")
    with pytest.raises(RunError) as caught:
        reader.read(broken(text).encode(), "a.json")
    assert str(caught.value) == str(alone.value)
    assert said in str(caught.value)
    # And it has spoiled nothing.
    assert reader.read(text.encode(), "a.json") == version()
