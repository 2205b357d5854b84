"""`pytest-irmetrics history` on many commits of a large baseline: seconds and the peak of memory.

    python benchmarks/history.py [--commits 1000] [--queries 1000] [--changed 10]

`git fast-import` makes a repository in which each commit changes the answers of some queries, one of them for worse;
it is then packed as a clone is. The goals are for 1,000 commits of 1,000 queries: 20 seconds, and 500 MB.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pytest_irmetrics import GoldenSet, Run, evaluate
from pytest_irmetrics.run import Answer, Header

ROOT = Path(__file__).resolve().parent.parent
GOAL_SECONDS, GOAL_MEGABYTES = 20.0, 500.0
METRICS = ("mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10")
BASELINE = "ir_baselines/test_search/test_search_quality[faq].json"


def make_repository(folder: Path, commits: int, queries: int, changed: int) -> None:
    """Make a repository whose baseline changes with every commit."""
    rng = random.Random(20_241)
    ids = [f"q{number:05}" for number in range(queries)]
    judgments = {query_id: {f"doc-{query_id}-{n}": 1 + n % 3 for n in range(3)} for query_id in ids}
    rankings = {query_id: _ranking(query_id, rng) for query_id in ids}
    golden = GoldenSet.from_judgments(judgments)
    lines = [b"queries:"]
    lines += [
        f"  - {{id: {i}, query: text of {i}, relevant: {{{', '.join(f'{d}: {g}' for d, g in j.items())}}}}}".encode()
        for i, j in judgments.items()
    ]
    git = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=folder, stdin=subprocess.PIPE)
    assert git.stdin is not None
    git.stdin.write(_data("commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\n", b"Begin"))
    git.stdin.write(_data("M 100644 inline golden/faq.yaml\n", b"\n".join(lines) + b"\n"))
    for number in range(commits):
        for query_id in rng.sample(ids, changed):
            rankings[query_id] = _ranking(query_id, rng)
        means = dict(zip(METRICS, _means(golden, rankings), strict=True))
        answers = {
            query_id: Answer((tuple(ranking),), f"text of {query_id}", {}, judgments[query_id], 1.0)
            for query_id, ranking in rankings.items()
        }
        text = Run.of(answers, Header(10, "golden/faq.yaml", 1, means)).dumps()
        when = 1_700_000_000 + 3600 * number
        head = f"commit refs/heads/main\ncommitter A <a@example.org> {when} +0000\n"
        git.stdin.write(_data(head, f"Release {number}".encode()))
        git.stdin.write(_data(f'M 100644 inline "{BASELINE}"\n', text.encode()))
    git.stdin.close()
    if git.wait():
        raise SystemExit("git fast-import failed")
    for command in (["reset", "-q", "--hard", "main"], ["gc", "-q"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


def _means(golden: GoldenSet, rankings: dict[str, list[str]]) -> list[float]:
    scored = evaluate(golden, Run(rankings), METRICS)
    return [scored[name] for name in METRICS]


def _ranking(query_id: str, rng: random.Random) -> list[str]:
    ranking = [f"doc-{query_id}-{rng.randrange(3, 1000)}" for _ in range(7)]
    ranking += [f"doc-{query_id}-{n}" for n in range(3)]
    rng.shuffle(ranking)
    return list(dict.fromkeys(ranking))


def _data(head: str, content: bytes) -> bytes:
    return head.encode() + b"data %d\n" % len(content) + content + b"\n"


def main() -> None:
    """Make the repository, run the command, and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--changed", type=int, default=10, help="queries that each commit answers otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["git", "init", "-q", "-b", "main", "."], cwd=folder, check=True)
        make_repository(folder, options.commits, options.queries, options.changed)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [
            sys.executable,
            "-m",
            "pytest_irmetrics.cli",
            "history",
            "--since",
            f"HEAD~{options.commits // 2}",
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        megabytes = after.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    assert f"{options.commits:,} versions of its baseline" in done.stdout, done.stdout[:1000]
    print(f"{options.commits:,} commits of {options.queries:,} queries, {options.changed} changed by each")
    print(f"  {seconds:6.1f} s   (goal {GOAL_SECONDS:g}), {processor:.1f} s of processor time")
    print(f"  {megabytes:6.0f} MB  (goal {GOAL_MEGABYTES:g})")
    if seconds > GOAL_SECONDS or megabytes > GOAL_MEGABYTES:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
