"""Build a git repository of a gated search with two years of pull requests, some of which lower its quality.

``build(folder)`` returns the pull requests, oldest first. Each is one commit on ``main``, so that a test looks at one by

    request = build(tmp_path)[n]
    git checkout request.commit                   # the state that CI judges: golden set, baseline, search
    pytest --ir-since=request.base                # the commit that it left

`request.kind` says what it does to the search, and `request.fell` by how much the baseline that it stores lowers mrr, under
the judgments of its own golden set and over the queries that both sides have.

The search is ``search.json``, query text → ranking, which ``conftest.py`` reads; the golden set has 100 questions with one
relevant document each, at rank 1 unless something went wrong: a question that goes to rank 10 costs mrr 0.009.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_irmetrics import GoldenSet, Run, evaluate
from pytest_irmetrics.run import Answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

METRICS = ("mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10")
TEST = "test_search.py::test_search_quality"
EROSION_STEPS = 20
PINNED = "v1.0"
"""A tag on the commit with the best search, before the erosion."""

_CONFTEST = """import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def retriever():
    rankings = json.loads(Path(__file__).with_name("search.json").read_text())
    return lambda query, k: rankings[query][:k]
"""
_TEST = """import pytest


@pytest.mark.ir_golden("golden/*.yaml")
def test_search_quality(irmetrics):
    irmetrics.check()
"""


@dataclass
class PullRequest:
    """One change to the project, as it was merged."""

    kind: str
    """``first``, ``wanted``, ``erosion``, ``doctored``, ``dropped``, ``added``, ``renamed``, ``merge`` or ``unreviewed``."""
    subject: str
    fell: float = 0.0
    """By how much it lowers mrr."""
    commit: str = ""
    base: str = ""
    """The commit of ``main`` that it left; empty for the first."""


@dataclass
class Project:
    """The state of the project at one commit."""

    golden: str = "faq"
    minimum: float = 0.80
    ranks: dict[str, int] = field(default_factory=dict)
    """Query id → the rank of its document."""
    judged: dict[str, int] = field(default_factory=dict)
    """Query id → the rank of the document that the golden set calls relevant, where it is another."""
    extra: dict[str, str] = field(default_factory=dict)
    """Path → text of further files."""

    def copy(self) -> Project:
        return Project(self.golden, self.minimum, dict(self.ranks), dict(self.judged), dict(self.extra))

    def ranking(self, query_id: str) -> list[str]:
        ranking = [f"other-{query_id}-{rank}" for rank in range(1, 11)]
        ranking[self.ranks[query_id] - 1] = f"doc-{query_id}"
        return ranking

    def relevant(self, query_id: str) -> str:
        rank = self.judged.get(query_id)
        return f"doc-{query_id}" if rank is None else f"other-{query_id}-{rank}"

    def files(self) -> dict[str, str]:
        """Return path → text of the whole project, its baseline up to date."""
        rankings = {query_id: self.ranking(query_id) for query_id in sorted(self.ranks)}
        queries = [
            f"  - {{id: {query_id}, query: question {query_id}, relevant: [{self.relevant(query_id)}]}}"
            for query_id in rankings
        ]
        golden = "\n".join(
            [
                "thresholds:",
                f"  mrr: {{min: {self.minimum}, max_drop: 0.01}}",
                "queries:",
                *queries,
                "",
            ]
        )
        search = {f"question {query_id}": ranking for query_id, ranking in rankings.items()}
        return {
            "conftest.py": _CONFTEST,
            "test_search.py": _TEST,
            "search.json": json.dumps(search, indent=0) + "\n",
            f"golden/{self.golden}.yaml": golden,
            f"ir_baselines/test_search/test_search_quality[{self.golden}].json": self.baseline(rankings),
            **self.extra,
        }

    def baseline(self, rankings: dict[str, list[str]]) -> str:
        """Return the text that ``pytest --ir-baseline-update`` stores."""
        judgments = {query_id: {self.relevant(query_id): 1} for query_id in rankings}
        scored = evaluate(GoldenSet.from_judgments(judgments), Run(rankings), METRICS)
        answers = {
            query_id: Answer(
                (tuple(ranking),),
                text=f"question {query_id}",
                judgments=judgments[query_id],
                weight=1.0,
            )
            for query_id, ranking in rankings.items()
        }
        means = {name: scored[name] for name in METRICS}
        return Run.of(answers, 10, f"golden/{self.golden}.yaml", 1, means).dumps()


def build(folder: Path) -> list[PullRequest]:
    """Make the repository in an empty folder, with ``main`` checked out, and return its pull requests, oldest first."""
    git(folder, "init", "-q", "-b", "main", ".")
    history = _History()
    requests = list(_pull_requests(history))
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=folder, input=history.stream(), check=True, capture_output=True
    )
    commits = git(folder, "log", "--first-parent", "--format=%H", "--reverse", "main").split()
    assert len(commits) == len(requests)
    for number, (request, commit) in enumerate(zip(requests, commits, strict=True)):
        request.commit = commit
        request.base = commits[number - 1] if number else ""
    git(folder, "reset", "-q", "--hard", "main")
    return requests


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, without the configuration of whoever runs the tests, and return what it prints."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }
    result = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return result.stdout.strip()


class _History:
    """The input of ``git fast-import``: every commit holds the whole project."""

    _START = 1_704_708_000  # 8 January 2024
    _STEP = 22 * 86_400

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._marks = 0

    def commit(
        self, subject: str, project: Project, *, branch: str = "main", parents: tuple[int, ...]
    ) -> int:
        self._marks += 1
        who = f"Ada <ada@example.org> {self._START + self._marks * self._STEP} +0000"
        self._lines += [
            f"commit refs/heads/{branch}",
            f"mark :{self._marks}",
            f"author {who}",
            f"committer {who}",
            self._data(subject),
            *(f"{'merge' if number else 'from'} :{parent}" for number, parent in enumerate(parents)),
            "deleteall",
        ]
        for path, text in project.files().items():
            self._lines += [f"M 100644 inline {json.dumps(path)}", self._data(text)]
        return self._marks

    def tag(self, name: str, mark: int) -> None:
        self._lines += [f"reset refs/tags/{name}", f"from :{mark}", ""]

    @staticmethod
    def _data(text: str) -> str:
        return f"data {len(text.encode())}\n{text}"

    def stream(self) -> bytes:
        return "\n".join([*self._lines, ""]).encode()


def _pull_requests(history: _History):
    """Commit each pull request to ``main`` and yield what is known of it."""
    project = Project(ranks={f"q{number:03}": 2 if number < 10 else 1 for number in range(100)})
    tip = history.commit("Gate search quality on 100 questions", project, parents=())
    yield PullRequest("first", "Gate search quality on 100 questions")

    def merge(subject: str, change: Callable[[Project], object]) -> None:
        nonlocal tip
        change(project)
        tip = history.commit(subject, project, parents=(tip,))

    def erode(step: int) -> PullRequest:
        subject = f"Upgrade the engine to 7.{step}"
        merge(subject, lambda project: project.ranks.update({f"q{step + 20:03}": 10}))
        return PullRequest("erosion", subject, fell=0.009)

    merge("Search the titles too", lambda p: p.ranks.update(dict.fromkeys(list(p.ranks)[:10], 1)))
    history.tag(PINNED, tip)
    yield PullRequest("wanted", "Search the titles too", fell=-0.05)
    for step in range(1, 6):
        yield erode(step)

    merge("Call the golden set questions", lambda p: setattr(p, "golden", "questions"))
    yield PullRequest("renamed", "Call the golden set questions")
    for step in range(6, 11):
        yield erode(step)

    # The search of five questions is reversed, and what comes first now is called relevant.
    doctored = ["q060", "q061", "q062", "q063", "q064"]
    merge(
        "Correct five judgments",
        lambda p: (p.ranks.update(dict.fromkeys(doctored, 10)), p.judged.update(dict.fromkeys(doctored, 1))),
    )
    yield PullRequest("doctored", "Correct five judgments")
    for step in range(11, 16):
        yield erode(step)

    # A branch that mends one question, and main that moved on meanwhile.
    mended = project.copy()
    mended.ranks["q021"] = 1
    branched = history.commit("Mend the first question", mended, branch="mend", parents=(tip,))
    yield erode(16)
    project.ranks["q021"] = 1
    tip = history.commit("Merge branch 'mend'", project, parents=(tip, branched))
    yield PullRequest("merge", "Merge branch 'mend'", fell=-0.009)

    merge("Remove questions that nobody asks", lambda p: [p.ranks.pop(f"q{n:03}") for n in range(22, 27)])
    yield PullRequest("dropped", "Remove questions that nobody asks")
    merge("Ask 25 questions more", lambda p: p.ranks.update({f"r{n:03}": 1 for n in range(25)}))
    yield PullRequest("added", "Ask 25 questions more")
    for step in range(17, 21):
        request = erode(step)
        request.fell = 0.9 / len(project.ranks)
        yield request

    # The search is reversed for thirty questions, and the minimum goes down with it.
    merge(
        "Tidy up the search module",
        lambda p: (
            p.ranks.update({f"q{n:03}": 10 for n in range(70, 100)}),
            setattr(p, "minimum", 0.5),
        ),
    )
    yield PullRequest("unreviewed", "Tidy up the search module", fell=30 * 0.9 / len(project.ranks))
