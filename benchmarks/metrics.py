"""Scoring speed: this project and its peers on the same rankings, side by side in one run.

    python benchmarks/metrics.py [--sizes 6980x100,100000x10] [--rounds 7]

Every tool works in a process of its own, in turns, from the retriever's lists of ids to scores by query. Judgments
are in each tool's own form beforehand; rankings are lists of ids, as a retriever returns them, and turning them
into what a tool wants is part of the work. Our `core`, the Scorer, reads both as they are; `public` is the way of a
notebook, evaluate(GoldenSet, Run(rankings)) and its means. That the tools' means agree is checked.
The exit status is 1 where a goal, which is against pytrec_eval alone, is missed: the ratios are steady, but want a
machine with nothing else to do. Also: the extra memory of scoring at 6980x1000, and how long importing the core takes
where pytest is imported already, as in every run of tests, and with it nearly all of the standard library that it uses.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEED = 20_241
METRICS = ("mrr", "map", "ndcg@3", "ndcg@10", "precision@10", "recall@10", "recall@100", "hit@10")
# name: (queries, depth, fewest and most judged documents a query, highest grade)
SIZES = {
    "100x100": (100, 100, 1, 3, 3),
    "6980x100": (6980, 100, 1, 1, 1),
    "6980x1000": (6980, 1000, 1, 1, 1),
    "200x1000": (200, 1000, 100, 100, 3),
    "100000x10": (100_000, 10, 1, 3, 3),
}
PEERS = ("pytrec_eval", "ir_measures", "ranx")
# How many times as long pytrec_eval should take, a size each.
GOALS = (4, 15, 15, 4, 4)
# The same for the public path, evaluate(golden, Run(rankings)). Of the time, about half goes into copying
# the rankings and proving that each holds distinct ids, all of them text.
PUBLIC_GOALS = (2, 2, 3, 2.5, 1.2)
IMPORT_GOAL_MS = 5.0
MEMORY_GOAL_MB = 5.0


def workload(size: str) -> tuple[list[dict[str, int]], list[list[str]]]:
    """Judgments and rankings by query, the same for every tool.

    Ids are texts of their own in each ranking, as from an engine's response. Each further judged document is a
    quarter as likely as the one before, as large sets have one for nearly every query. Of them 85 % are found, as
    many between ranks 1 and 10 as between 10 and 100 and between 100 and 1000: about what BM25 does on MS MARCO.
    """
    queries, depth, fewest, most, top = SIZES[size]
    rng = random.Random(f"{SEED} {size}")
    judgments, rankings = [], []
    for query in range(queries):
        numbers = [rng.randrange(10_000_000)]
        while len(numbers) < depth:  # spread over the corpus, none twice
            numbers.append((numbers[-1] + 1_234_577) % 10_000_000)
        wanted = fewest
        while wanted < most and rng.random() < 0.25:
            wanted += 1
        judged: dict[str, int] = {}
        while len(judged) < wanted:
            rank = int(depth ** rng.random())
            document = (
                f"doc-{numbers[rank - 1]}" if rng.random() < 0.85 else f"elsewhere-{query}-{len(judged)}"
            )
            judged.setdefault(document, rng.randint(1, top))
        judgments.append(judged)
        rankings.append([f"doc-{number}" for number in numbers])
    return judgments, rankings


# One process for each tool: prepare what a user of it would have at hand, then score. -------------------------


def prepare_core(judgments, rankings):
    from pytest_irmetrics.metrics import Scorer, parse_metric

    metrics = [parse_metric(name) for name in METRICS]

    def work():
        # A new one each time: it remembers rows of scores, and a second evaluation would find them all.
        return [*map(Scorer(metrics).row, judgments, rankings)]

    def scores(rows):
        return dict(zip(METRICS, zip(*rows, strict=True), strict=True))

    return work, scores


def prepare_public(judgments, rankings):
    from pytest_irmetrics import GoldenSet, Run, evaluate

    golden = GoldenSet.from_judgments({str(query): judged for query, judged in enumerate(judgments)})
    rankings = {str(query): ranking for query, ranking in enumerate(rankings)}

    def work():
        evaluation = evaluate(golden, Run(rankings), METRICS)
        for name in METRICS:
            evaluation[name]  # scores are computed when they are asked for
        return evaluation

    def scores(evaluation):
        return {name: list(column.values()) for name, column in evaluation.scores.items()}

    return work, scores


def prepare_pytrec_eval(judgments, rankings):
    import pytrec_eval

    names = {
        "mrr": "recip_rank",
        "map": "map",
        "ndcg@3": "ndcg_cut_3",
        "ndcg@10": "ndcg_cut_10",
        "precision@10": "P_10",
        "recall@10": "recall_10",
        "recall@100": "recall_100",
        "hit@10": "success_10",
    }
    qrels = {str(query): judged for query, judged in enumerate(judgments)}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(names.values()))

    def work():
        return evaluator.evaluate(as_run(rankings))

    def scores(by_query):
        return {ours: [by_query[query][theirs] for query in qrels] for ours, theirs in names.items()}

    return work, scores


def prepare_ir_measures(judgments, rankings):
    import ir_measures

    names = {
        "mrr": "RR",
        "map": "AP",
        "ndcg@3": "nDCG@3",
        "ndcg@10": "nDCG@10",
        "precision@10": "P@10",
        "recall@10": "R@10",
        "recall@100": "R@100",
        "hit@10": "Success@10",
    }
    measures = {name: ir_measures.parse_measure(theirs) for name, theirs in names.items()}
    qrels = {str(query): judged for query, judged in enumerate(judgments)}
    evaluator = ir_measures.evaluator(list(measures.values()), qrels)

    def work():
        return list(evaluator.iter_calc(as_run(rankings)))

    def scores(found):
        by_query = {(score.query_id, str(score.measure)): score.value for score in found}
        return {name: [by_query[query, str(one)] for query in qrels] for name, one in measures.items()}

    return work, scores


def prepare_ranx(judgments, rankings):
    import warnings

    from ranx import evaluate

    warnings.simplefilter("ignore")  # numba's, on ranx's own code
    names = {
        "mrr": "mrr",
        "map": "map",
        "ndcg@3": "ndcg@3",
        "ndcg@10": "ndcg@10",
        "precision@10": "precision@10",
        "recall@10": "recall@10",
        "recall@100": "recall@100",
        "hit@10": "hit_rate@10",
    }
    qrels = {str(query): judged for query, judged in enumerate(judgments)}

    def work():
        return evaluate(qrels, as_run(rankings), list(names.values()), return_mean=False)

    def scores(found):
        return {ours: [float(value) for value in found[theirs]] for ours, theirs in names.items()}

    return work, scores


def as_run(rankings):
    """What the peers read: a score for each document; the spacing is exact also in single precision."""
    return {
        str(query): {document: float(len(ranking) - at) for at, document in enumerate(ranking)}
        for query, ranking in enumerate(rankings)
    }


PREPARE = {
    "core": prepare_core,
    "public": prepare_public,
    "pytrec_eval": prepare_pytrec_eval,
    "ir_measures": prepare_ir_measures,
    "ranx": prepare_ranx,
}


def serve(tool: str, size: str) -> None:
    """Score once for the means, then once for every line that comes in; answers with milliseconds."""
    judgments, rankings = workload(size)
    work, scores = PREPARE[tool](judgments, rankings)
    columns = scores(work())
    print(json.dumps({name: sum(column) / len(column) for name, column in columns.items()}), flush=True)
    del columns
    gc.freeze()  # the lists of ids are not what is being measured
    for line in sys.stdin:
        runs = int(line)
        work()  # the caches held another tool's data
        # The clock counts what other processes do, too, on a busy machine, and the processor's time counts threads
        # one by one: the smaller is what is nearer to a machine of one's own.
        clock, processor = time.perf_counter(), time.process_time()
        for _ in range(runs):
            work()
        taken = min(time.perf_counter() - clock, time.process_time() - processor)
        print(taken / runs * 1000, flush=True)


class Tool:
    """A tool at work in a process of its own."""

    def __init__(self, name: str, size: str) -> None:
        self.name = name
        self.times: list[float] = []
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", name, size],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def answer(self) -> object:
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with exit status {self.process.wait()}")
        return json.loads(line)

    def score(self, runs: int) -> float:
        self.process.stdin.write(f"{runs}\n")
        self.process.stdin.flush()
        return self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def compare(size: str, peers: list[str], rounds: int) -> int:
    """Time all tools in turns, so that whatever else the machine does meets them alike; print the medians."""
    missed = 0
    with contextlib.ExitStack() as stack:
        tools = []
        for name in ("core", "public", *peers):
            tool = stack.enter_context(Tool(name, size))
            tool.means = tool.answer()
            # The first turns also let the interpreter specialise the code. Short work is repeated in a turn.
            tool.runs = max(1, min(100, int(100 / tool.score(1))))
            tools.append(tool)
        for _ in range(rounds):
            for tool in tools:
                tool.times.append(tool.score(tool.runs))
        core, public, *others = tools
        print(f"{size:<16}{core.name:<13}{statistics.median(core.times):>9.2f}")
        print(f"{size:<16}{public.name:<13}{statistics.median(public.times):>9.2f}")
        pairs = [
            (peer, mine, goals) for peer in others for mine, goals in ((core, GOALS), (public, PUBLIC_GOALS))
        ]
        for peer, mine, goals in pairs:
            ratio = statistics.median(
                theirs / own for theirs, own in zip(peer.times, mine.times, strict=True)
            )
            goal = goals[list(SIZES).index(size)] if peer.name == "pytrec_eval" else None
            is_missed = goal is not None and ratio < goal
            missed += is_missed
            verdict = f"{goal or '':>5}{'  missed' if is_missed else ''}"
            taken = statistics.median(peer.times)
            print(f"{size:<16}{peer.name:<13}{taken:>9.2f}{ratio:>12.1f} {mine.name:<7}{verdict}".rstrip())
        for tool in tools[1:]:
            for name, value in core.means.items():
                if abs(tool.means[name] - value) > 1e-9:
                    missed += 1
                    print(f"{'':<16}{name} is {value} here and {tool.means[name]} there")
    return missed


def memory(size: str) -> float:
    """The most memory that scoring adds to what judgments and rankings take, in MB, scores included."""
    import tracemalloc

    judgments, rankings = workload(size)
    from pytest_irmetrics.metrics import Scorer

    tracemalloc.start()
    rows = [*map(Scorer(METRICS).row, judgments, rankings)]
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    assert len(rows) == len(judgments)
    return peak


def import_time(repeats: int = 25) -> float:
    """Milliseconds of the processor that importing the metric core takes where pytest is imported already: the median."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    code = (
        "import time, pytest; began = time.process_time(); import pytest_irmetrics.metrics; "
        "print((time.process_time() - began) * 1000)"
    )

    def run() -> float:
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, env=environment, stdout=subprocess.PIPE
        )
        return float(done.stdout)

    run()  # writes the byte code
    return statistics.median(run() for _ in range(repeats))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default=",".join(SIZES), help="which sizes, with commas between")
    parser.add_argument("--peers", default=",".join(PEERS), help="which peers, with commas between")
    parser.add_argument("--rounds", type=int, default=7, help="how often each tool's turn comes")
    parser.add_argument("--serve", nargs=2, metavar=("TOOL", "SIZE"), help=argparse.SUPPRESS)
    parser.add_argument("--memory", metavar="SIZE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return 0
    if options.memory:
        print(memory(options.memory))
        return 0

    print(f"Python {sys.version.split()[0]}; {', '.join(METRICS)}\n")
    print(f"{'queries x depth':<16}{'tool':<13}{'ms':>9}{'times':>12} {'of':<7}{'goal':>5}")
    missed = 0
    for size in filter(None, options.sizes.split(",")):
        missed += compare(size, options.peers.split(","), options.rounds)
    added = import_time()
    verdict = "" if added <= IMPORT_GOAL_MS else "  missed"
    missed += bool(verdict)
    print(f"\nimporting the core: {added:.1f} ms in a process with pytest, goal {IMPORT_GOAL_MS:g}{verdict}")
    command = [sys.executable, __file__, "--memory", "6980x1000"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    peak = float(subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE).stdout)
    verdict = "" if peak <= MEMORY_GOAL_MB else "  missed"
    missed += bool(verdict)
    print(f"extra memory at 6980x1000: {peak:.1f} MB, goal {MEMORY_GOAL_MB:g}{verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
