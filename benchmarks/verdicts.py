"""How often verdicts, and the sentences about them, are true: simulated and real changes, each judged by `pytest-irmetrics score`.

    python benchmarks/verdicts.py [--trials 200] [auto | noise | likely | slices …]

The real changes are those of the example project: its queries over the documentation of ruff's rules, in SQLite's full-text
index, with another tokenizer or other weights; the queries of a trial are drawn anew, with replacement. A harmless change is
such a change with the two runs swapped at random, query by query: it moves as many queries as far, and makes nothing better or
worse. A true fall is added to it: as lost queries, of which nothing comes back, or as slips, whose results begin with one more
that is not relevant; each query is hit by chance, so often that the mean of all falls by that much. Everything random has a
seed, so two runs print the same. The exit status is 1 where a goal that is printed is missed by more than three standard errors.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import random
import re
import statistics
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from pytest_irmetrics import GoldenSet, Run, compare, evaluate
from pytest_irmetrics.cli import main as command

EXAMPLE = Path(__file__).parents[1] / "example_project"
METRIC = "ndcg@10"
CHANGES = {
    "weights 10,5,2": {"weights": (10.0, 5.0, 2.0)},
    "weights 5,5,1": {"weights": (5.0, 5.0, 1.0)},
    "weights 1,1,1": {"weights": (1.0, 1.0, 1.0)},
    "no stemming": {"tokenizer": "unicode61"},
    "trigrams": {"tokenizer": "trigram"},
}
"""Name → what is changed of the example's engine."""
FALSE_ALARMS = {10: 0.10, 30: 0.10, 100: 0.08, 300: 0.06}
"""Number of queries → the share of harmless changes that `auto` may fail, as the mean over the changes."""
NOMINAL = 0.05


@cache
def golden_set():
    """The example's queries that have an answer and no parameters, without its thresholds."""
    read = GoldenSet.load(EXAMPLE / "golden" / "rules.yaml")
    kept = [q for q in read.queries.values() if q.judgments and not q.params and q.xfail is None]
    texts = {query.id: query.text for query in kept}
    return GoldenSet.from_judgments({query.id: query.judgments for query in kept}, texts=texts)


@cache
def rankings(change=None):
    """Query id → the ranking of the example's engine, or of the engine after a change."""
    if str(EXAMPLE) not in sys.path:
        sys.path.insert(0, str(EXAMPLE))
    from search import RuleSearch, load_rules

    search = RuleSearch(load_rules(), **CHANGES.get(change, {})).search
    return {query.id: list(search(query.text, 10)) for query in golden_set().queries.values()}


@cache
def score(query_id, change, *, slipped=False):
    ranking = rankings(change)[query_id]
    found = evaluate(golden_set(), Run({query_id: ["x", *ranking] if slipped else ranking}), metrics=[METRIC])
    return found.scores[METRIC][query_id]


def harmless(queries, change, chance):
    """Draw queries; return their judgments and two runs over them, swapped at random."""
    drawn = dict(enumerate(chance.choices(list(golden_set().queries), k=queries)))
    sides = {number: [rankings()[name], rankings(change)[name]] for number, name in drawn.items()}
    for pair in sides.values():
        chance.shuffle(pair)
    judgments = {f"q{number}": dict(golden_set().queries[name].judgments) for number, name in drawn.items()}
    before, now = ({f"q{number}": pair[side] for number, pair in sides.items()} for side in (0, 1))
    return judgments, before, now


def fallen(now, change, fall, how, chance):
    """Return a run in which the mean falls by `fall`, but for chance."""
    names = list(golden_set().queries)
    of_one = statistics.fmean(
        score(name, side) - (score(name, side, slipped=True) if how == "slips" else 0.0)
        for name in names
        for side in (None, change)
    )
    hit = {name for name in now if chance.random() < fall / of_one}
    return {
        name: ranking if name not in hit else ["x", *ranking] if how == "slips" else []
        for name, ranking in now.items()
    }


class Judge:
    """Judges one run against another as a user would, in a folder of its own."""

    def __init__(self, folder):
        self.golden, self.now, self.before = (
            str(Path(folder, name)) for name in ("golden.jsonl", "now.json", "before.json")
        )

    def __call__(self, judgments, before, now, tags=None, thresholds=None):
        """The report of the one test: its gates with their states, and what is said."""
        queries = [
            {"id": name, "query": name, "relevant": grades} | ({"tags": tags[name]} if tags else {})
            for name, grades in judgments.items()
        ]
        golden = {"queries": queries} | ({"thresholds": thresholds} if thresholds else {})
        path = self.golden.replace(".jsonl", ".yaml") if thresholds else self.golden
        text = json.dumps(golden) if thresholds else "\n".join(map(json.dumps, queries))
        Path(path).write_text(text, encoding="utf-8")
        for run_path, run in ((self.before, before), (self.now, now)):
            answers = [
                {"id": name, "rankings": ranking if is_repeated(ranking) else [ranking]}
                for name, ranking in run.items()
            ]
            document = {"format": "pytest-irmetrics run", "version": 1, "queries": answers}
            Path(run_path).write_text(json.dumps(document), encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            command(["score", path, self.now, "--against", self.before, "--json"])
        (test,) = json.loads(said.getvalue())["tests"]
        return test


def is_repeated(ranking):
    return bool(ranking) and isinstance(ranking[0], list)


def states(test):
    return {gate["state"] for gate in test["gates"]}


def seeded(*names):
    return random.Random(repr(names))


def beyond(share, goal, trials):
    """Whether a share is above a goal by more than three standard errors."""
    return share > goal + 3 * math.sqrt(goal * (1 - goal) / trials)


def auto(judge, trials):
    """The gate of nobody's choice: harmless changes that it fails or leaves undecided, and true falls that it fails."""
    show(
        "queries", "change", "harmless: failed", "undecided", ".02 lost", ".02 slips", ".05 lost", ".05 slips"
    )
    for queries, goal in FALSE_ALARMS.items():
        rows = []
        for change in CHANGES:
            chance, counts = seeded("auto", queries, change), [0] * 6
            for _ in range(trials):
                judgments, before, now = harmless(queries, change, chance)
                found = states(judge(judgments, before, now))
                counts[0] += "failed" in found
                counts[1] += "undecided" in found
                falls = [(fall, how) for fall in (0.02, 0.05) for how in ("lost", "slips")]
                for place, (fall, how) in enumerate(falls, start=2):
                    worse = fallen(now, change, fall, how, chance)
                    counts[place] += "failed" in states(judge(judgments, before, worse))
            rows.append([count / trials for count in counts])
            show(queries, change, *rows[-1])
        means = [statistics.fmean(column) for column in zip(*rows, strict=True)]
        show(queries, f"mean, at most {goal:.2f}", *means)
        if beyond(means[0], goal, trials * len(CHANGES)):
            yield f"{queries} queries: {means[0]:.3f} of harmless changes fail, at most {goal}"


def independent(chance):
    """Each of 40 of 100 queries answers otherwise from pass to pass, on its own."""
    return [chance.choice((1, 1, 1, 2, 3)) if query < 40 else 1 + query % 3 for query in range(100)]


def replica(chance):
    """The replica that a pass meets decides how many of 40 queries slip by a rank, and each slips a little on its own."""
    quality = chance.random()
    slips = [quality + chance.uniform(-0.2, 0.2) > (query + 0.5) / 40 for query in range(40)]
    return [1 + slips[query] if query < 40 else 1 + query % 3 for query in range(100)]


def bad_build(chance):
    """One pass in ten meets an index in which 15 queries are far down; 25 others vary on their own."""
    bad = chance.random() < 0.1
    first = [4 if bad else 1] * 15 + [chance.choice((1, 1, 2)) for _ in range(25)]
    return [*first, *(1 + query % 3 for query in range(40, 100))]


def noise(judge, trials):
    """Answers that differ from one time to the next: what `max_drop` 0 and 0.03 of mrr make of noise and of a true fall."""
    show("what varies", "asked", "noise: failed", "undecided", "a fall of .06: failed", "undecided")
    judgments = {f"q{query}": {"d": 1} for query in range(100)}

    def run(kind, asked, chance, lost=()):
        passes = [kind(chance) for _ in range(asked)]
        return {
            f"q{query}": [
                [] if query in lost else [*(f"x{place}" for place in range(1, each[query])), "d"]
                for each in passes
            ]
            for query in range(100)
        }

    for kind in (independent, replica, bad_build):
        for asked in (2, 5, 10):
            chance, counts = seeded("noise", kind.__name__, asked), [0] * 4
            for _ in range(trials):
                before, now = (run(kind, asked, chance) for _ in range(2))
                worse = run(kind, asked, chance, lost=chance.sample(range(40, 100, 3), 6))
                for place, side in ((0, now), (2, worse)):
                    found = states(judge(judgments, before, side, thresholds={"mrr": {"max_drop": 0}}))
                    counts[place] += "failed" in found
                    counts[place + 1] += "undecided" in found
            shares = [count / trials for count in counts]
            show(kind.__name__, asked, *shares)
            if beyond(shares[0], NOMINAL, trials):
                yield f"{kind.__name__}, asked {asked} times: {shares[0]:.3f} of noise fails, at most {NOMINAL}"


def likely(_judge, trials):
    """p below 0.05 of harmless changes, and whether the 95 % interval of a change holds its true size."""
    show("queries", "change", "p < .05 of harmless", "interval holds the truth", "intervals")
    for queries in FALSE_ALARMS:
        for change in CHANGES:
            chance, low, held = seeded("likely", queries, change), 0, []
            truth = statistics.fmean(score(name, change) - score(name, None) for name in golden_set().queries)
            for _ in range(trials):
                judgments, before, now = harmless(queries, change, chance)
                found = compared(judgments, before, now)
                low += found.p_value < NOMINAL and found.delta < 0
                drawn = chance.choices(list(golden_set().queries), k=queries)
                judgments = {f"q{n}": golden_set().queries[name].judgments for n, name in enumerate(drawn)}
                sides = [
                    {f"q{n}": rankings(one)[name] for n, name in enumerate(drawn)} for one in (None, change)
                ]
                interval = compared(judgments, *sides).interval
                if interval:
                    held.append(interval[0] <= truth <= interval[1])
            show(queries, change, low / trials, statistics.fmean(held) if held else math.nan, len(held))
            if beyond(low / trials, NOMINAL, trials):
                yield f"{queries} queries, {change}: p < .05 for {low / trials:.3f} of harmless changes"


def compared(judgments, before, now):
    golden = GoldenSet.from_judgments(judgments)
    return compare(*(evaluate(golden, Run(run), metrics=[METRIC]) for run in (now, before)))[METRIC]


def slices(judge, trials):
    """Sentences on slices: of how many harmless changes of a set with thirty random tags one is said."""
    show("queries", "change", "a slice is named")
    for queries in (100, 300):
        for change in CHANGES:
            chance, named = seeded("slices", queries, change), 0
            for _ in range(trials):
                judgments, before, now = harmless(queries, change, chance)
                tags = {
                    name: [f"tag{tag}" for tag in range(30) if chance.random() < 0.15] for name in judgments
                }
                named += bool(
                    re.search(
                        r"(hides that|fall of).* in `tag", json.dumps(judge(judgments, before, now, tags))
                    )
                )
            show(queries, change, named / trials)
            if beyond(named / trials, 0.02, trials):
                yield f"{queries} queries, {change}: a slice is named for {named / trials:.3f}, at most 0.02"


def show(*cells):
    """Print a row of a table."""
    texts = [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells]
    print(
        "  ".join([f"{texts[0]:<12}", f"{texts[1]:<18}", *(f"{text:>14}" for text in texts[2:])]), flush=True
    )


TABLES = {table.__name__: table for table in (auto, noise, likely, slices)}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"which of {', '.join(TABLES)}; else all")
    parser.add_argument("--trials", type=int, default=200, help="of each row")
    options = parser.parse_args()
    if unknown := set(options.tables) - TABLES.keys():
        parser.error(f"no such table: {', '.join(unknown)}. There are {', '.join(TABLES)}.")
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.tables or TABLES:
            start = time.perf_counter()
            print(TABLES[name].__doc__)
            missed += TABLES[name](Judge(folder), options.trials)
            print(f"({name}: {options.trials} trials a row, {time.perf_counter() - start:.0f} s)\n")
    for goal in missed:
        print(f"MISSED: {goal}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
