"""Two years of pull requests: `--ir-since` tells each for what it did, and `history` finds what eroded and who hid what."""

from __future__ import annotations

import json

import pytest

from pytest_irmetrics.cli import main
from tests.git_repository import git, isolate_git, needs_git
from tests.projects import Project, text_of
from tests.repository_with_history import PINNED, build

pytestmark = needs_git


@pytest.fixture
def repository(pytester, monkeypatch):
    """Give the repository as a project, and its pull requests by kind; the last of each."""
    isolate_git(monkeypatch)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_irmetrics.plugin")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    requests = build(pytester.path)
    project = Project.__new__(Project)
    project.pytester, project.path = pytester, pytester.path
    return project, requests


TOLD = {
    "wanted": "mrr 0.9500 → 1.0000: retriever +0.0500.",
    "erosion": "1 query pays",
    "renamed": "Its baseline was ir_baselines/test_search/test_search_quality[faq].json.",
    "doctored": "5 queries pay: q060",
    "merge": "mrr 0.8560 → 0.8650: retriever +0.0090.",
    "dropped": "mrr 0.8650 → 0.9053: dropped +0.0403.",
    "added": "mrr 0.9053 → 0.9250: added +0.0197.",
    "unreviewed": "ACCEPTED: golden/questions.yaml: mrr fell by 0.2250 from",
}


def test_each_pull_request_is_told_for_what_it_did(repository):
    project, requests = repository
    for kind, words in TOLD.items():
        request = next(request for request in requests if request.kind == kind)
        git(project.path, "checkout", "-q", request.commit)
        result = project.run(f"--ir-since={request.base}")
        said = text_of(result)
        assert words in said, kind
        assert ("ACCEPTED" in said) == (kind in ("doctored", "unreviewed"))
        assert result.ret == 0


def test_a_tag_is_the_gate_on_slow_erosion(repository):
    project, requests = repository
    last = next(one.commit for one in reversed(requests) if one.kind == "erosion")
    git(project.path, "checkout", "-q", last)
    result = project.run(f"--ir-since={PINNED}", "-o", "ir_accept=fail")
    result.assert_outcomes(failed=1)
    assert "mrr fell by" in text_of(result)


@pytest.mark.parametrize("commit", [PINNED, "main~7", "main"])
def test_the_baselines_are_those_that_an_update_stores(repository, commit):
    project, _ = repository
    git(project.path, "checkout", "-q", commit)
    project.store()
    assert git(project.path, "diff", "--stat", "--", "ir_baselines", "golden") == ""


def test_history_finds_what_each_pull_request_moved(repository, capsys):
    _, requests = repository
    assert main(["history", "--json"]) == 0
    (test,) = json.loads(capsys.readouterr().out)["tests"]
    assert [point["commit"] for point in test["points"]] == [request.commit for request in requests]
    points = dict(zip(requests, test["points"], strict=True))
    last = {request.kind: point for request, point in points.items()}
    for request, point in points.items():
        if request.kind == "wanted":
            assert point["changes"]["mrr"] > 0
        # Of a commit before, what moved is told over the queries that were not dropped since.
        if request.kind in ("erosion", "merge", "unreviewed") and point["time"] > last["dropped"]["time"]:
            assert point["changes"]["mrr"] == pytest.approx(-request.fell)
            assert ("mrr" in point["lowered"]) == (request.kind in ("erosion", "unreviewed"))
    doctored = last["doctored"]
    assert doctored["changes"]["mrr"] > 0
    assert doctored["as_judged_before"]["mrr"] == doctored["lowered"]["mrr"] == pytest.approx(-4.5 / 95)
    assert doctored["relabelled"] == ["q060", "q061", "q062", "q063", "q064"]
    assert last["dropped"]["changes"]["mrr"] == last["added"]["changes"]["mrr"] == 0
    assert last["dropped"]["dropped"] == ["q022", "q023", "q024", "q025", "q026"]
    assert len(last["added"]["added"]) == 25
    paths = list(dict.fromkeys(point["path"] for point in test["points"]))
    assert [path.rpartition("/")[2] for path in paths] == [
        f"test_search_quality[{name}].json" for name in ("faq", "questions")
    ]


@pytest.mark.usefixtures("repository")
def test_history_says_what_was_lost_since_a_tag(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["history", "--since", PINNED]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "28 versions of its baseline, 2024-01-30 to" in said
    assert "−0.2250 lowered Tidy up the search module" in said
    assert "5 queries judged otherwise, by the judgments before mrr −0.0474: q060, q061" in said
    since = said.partition(f"Since {PINNED} (")[2]
    # Under today's judgments five questions seem to have been mended; under those of that time they were lost.
    assert "over the queries that both hold: mrr −0.3642" in since
    assert "by the judgments before mrr −0.4642" in since
