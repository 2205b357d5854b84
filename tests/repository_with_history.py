"""Build a Git repository of a gated search with two years of pull requests, some of which lower its quality.

The search is ``search.json``, query text → ranking. The golden set has 100 questions with one relevant document each, at rank 1
unless something went wrong: a question whose document goes to rank 10 costs mrr 0.009. Every commit holds the whole project, its
baseline up to date.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from pytest_irmetrics import GoldenSet, Run, evaluate
from tests.git_repository import git, new_repository

if TYPE_CHECKING:
    from pathlib import Path

METRICS = ("map", "mrr", "ndcg@10", "ndcg@3", "precision@10", "recall@10")
PINNED = "v1.0"
"""A tag on the commit with the best search, before the erosion."""
FIRST, STEP = 1_704_708_000, 22 * 86_400
"""When the first commit was made, 8 January 2024, and seconds between two."""

CONFTEST = """import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def retriever():
    rankings = json.loads(Path(__file__).with_name("search.json").read_text())
    return lambda query, k: rankings[query][:k]
"""
TEST = """import pytest


@pytest.mark.ir_golden("golden/*.yaml")
def test_search_quality(irmetrics):
    irmetrics.check()
"""


class PullRequest(NamedTuple):
    """One commit of ``main``: `kind` says what it does to the search, `fell` by how much its baseline lowers mrr."""

    kind: str
    subject: str
    fell: float
    commit: str
    base: str


def erosion(*steps, questions=100):
    return [
        ("erosion", f"Upgrade the engine to 7.{step}", 0.9 / questions, {f"q{step + 20:03}": 10})
        for step in steps
    ]


def numbered(prefix, start, stop, rank):
    return {f"{prefix}{number:03}": rank for number in range(start, stop)}


# Kind, subject, how much mrr falls, and question → rank of its document (None: the question is dropped).
REQUESTS = [
    ("first", "Gate search quality on 100 questions", 0, numbered("q", 0, 10, 2) | numbered("q", 10, 100, 1)),
    ("wanted", "Search the titles too", -0.05, numbered("q", 0, 10, 1)),
    *erosion(1, 2, 3, 4, 5),
    ("renamed", "Call the golden set questions", 0, {}),
    *erosion(6, 7, 8, 9, 10),
    # The search of five questions is reversed, and what comes first now is called relevant.
    ("doctored", "Correct five judgments", 0, numbered("q", 60, 65, 10)),
    *erosion(11, 12, 13, 14, 15),
    ("branch", "Mend the first question", 0, {"q021": 1}),
    *erosion(16),
    ("merge", "Merge branch 'mend'", -0.009, {"q021": 1}),
    ("dropped", "Remove questions that nobody asks", 0, numbered("q", 22, 27, None)),
    ("added", "Ask 25 questions more", 0, numbered("r", 0, 25, 1)),
    *erosion(17, 18, 19, 20, questions=120),
    # The search is reversed for thirty questions, and the minimum goes down with it.
    ("unreviewed", "Tidy up the search module", 0.225, numbered("q", 70, 100, 10)),
]  # fmt: skip


def project_files(golden, minimum, ranks, doctored):
    """Return path → text of the project where each question's document has its rank."""
    answers, relevant = {}, {}
    for query_id in sorted(ranks):
        ranking = [f"other-{query_id}-{rank}" for rank in range(1, 11)]
        ranking[ranks[query_id] - 1] = f"doc-{query_id}"
        answers[query_id] = ranking
        relevant[query_id] = ranking[0] if query_id in doctored else f"doc-{query_id}"
    queries = [
        f"  - {{id: {query_id}, query: question {query_id}, relevant: [{doc}]}}"
        for query_id, doc in relevant.items()
    ]
    lines = ["thresholds:", f"  mrr: {{min: {minimum}, max_drop: 0.01}}", "queries:", *queries, ""]
    scored = evaluate(
        GoldenSet.from_judgments({query_id: {doc: 1} for query_id, doc in relevant.items()}),
        Run(answers),
        METRICS,
    )
    stored = [
        json.dumps({"id": query_id, "text": f"question {query_id}", "judgments": {relevant[query_id]: 1}, "weight": 1.0, "rankings": [ranking]})
        for query_id, ranking in answers.items()
    ]  # fmt: skip
    header = {"format": "pytest-irmetrics run", "version": 1, "golden_set": f"golden/{golden}.yaml", "depth": 10, "relevance_level": 1, "means": {name: scored[name] for name in METRICS}, "limits": [{"metric": "mrr", "max_drop": 0.01, "min": minimum}]}  # fmt: skip
    head = "".join(f'"{key}": {json.dumps(value)},\n' for key, value in header.items())
    return {
        "conftest.py": CONFTEST,
        "test_search.py": TEST,
        "search.json": json.dumps({f"question {query_id}": ranking for query_id, ranking in answers.items()}, indent=0) + "\n",
        f"golden/{golden}.yaml": "\n".join(lines),
        f"ir_baselines/test_search/test_search_quality[{golden}].json": "{\n" + head + '"queries": [\n' + ",\n".join(stored) + "\n]\n}\n",
    }  # fmt: skip


def build(folder: Path) -> list[PullRequest]:
    """Make the repository in a folder, with ``main`` checked out, and return its pull requests, oldest first."""
    new_repository(folder)
    golden, minimum, ranks, doctored = "faq", 0.80, {}, set()
    stream, main, branch = [], [], None

    def data(text):
        return f"data {len(text.encode())}\n{text}"

    for mark, (kind, subject, _, changed) in enumerate(REQUESTS, start=1):
        after = {query_id: rank for query_id, rank in {**ranks, **changed}.items() if rank is not None}
        golden = "questions" if kind == "renamed" else golden
        minimum = 0.5 if kind == "unreviewed" else minimum
        doctored |= set(changed) if kind == "doctored" else set()
        parents = main[-1:] + ([branch] if kind == "merge" else [])
        who = f"Ada <ada@example.org> {FIRST + mark * STEP} +0000"
        stream += [
            f"commit refs/heads/{'mend' if kind == 'branch' else 'main'}",
            f"mark :{mark}",
            f"author {who}",
            f"committer {who}",
            data(subject),
        ]
        stream += [f"{word} :{parent}" for word, parent in zip(("from", "merge"), parents, strict=False)]
        stream.append("deleteall")
        for path, text in project_files(golden, minimum, after, doctored).items():
            stream += [f"M 100644 inline {json.dumps(path)}", data(text)]
        if kind == "branch":
            branch = mark
        else:
            ranks = after
            main.append(mark)
        if kind == "wanted":
            stream += [f"reset refs/tags/{PINNED}", f"from :{mark}", ""]
    text = "\n".join([*stream, ""]).encode()
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=text, check=True, capture_output=True)
    git(folder, "reset", "-q", "--hard", "main")
    commits = git(folder, "log", "--first-parent", "--format=%H", "--reverse", "main").split()
    merged = [request[:3] for request in REQUESTS if request[0] != "branch"]
    return [
        PullRequest(*about, commit, base)
        for about, commit, base in zip(merged, commits, ["", *commits], strict=False)
    ]
