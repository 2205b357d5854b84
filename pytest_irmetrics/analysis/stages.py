"""Say where in a search of several stages relevant documents were lost, by what the retriever tells with `staged`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.golden import Query
from pytest_irmetrics.metrics import mean
from pytest_irmetrics.reports.item_report import ScoreRow


def lost_at_stages(whole: Evaluation, comparison: Comparison | None = None) -> tuple[str | None, bool]:
    """Say at which stage those relevant documents are that left the results; without a comparison, all that are not in them.

    Each counts at the first named stage that holds it. None where none was lost, or no query with stages lost one. Also
    returns whether stages hold half of them or more: search found these and ranked them lower, which no judging settles. docs/retriever.md quotes the sentence.
    """
    paired = whole if comparison is None else comparison.now
    lost_at: Counter[str | None] = Counter()
    for query, relevant in _with_stages(paired):
        missing = relevant.difference(paired.rankings(query.id)[0])
        if missing and comparison is not None:
            missing.intersection_update(comparison.baseline.rankings(query.id)[0])
        stages = whole.retrieved.stages[query.id]
        lost_at.update(next((name for name in stages if doc_id in stages[name]), None) for doc_id in missing)
    if not lost_at:
        return None, False
    recall = {name: share for name, (_, share) in _recall(whole).items()}
    (first, where), *others = [(lost_at[name], _at(name)) for name in (*recall, None) if name in lost_at]
    still = "still " if lost_at.keys() - {None} else ""
    rest = "".join(f", {count:,} {place}" for count, place in others)
    what = f"{plural(lost_at.total(), relevant_word(paired))} {'not found' if comparison is None else 'lost'}"
    # Where no stage holds anything, `in no stage` says so.
    empty = [name for name in recall if not recall[name] and any(recall.values())]
    hint = "".join(f" Nothing relevant is {_at(name)} for any query." for name in empty)
    # Other counts of what was lost are averages over the repeats.
    once = ", the first time that each query was asked" if comparison and comparison.is_repeated else ""
    text = f"By stage{once}: of {what}, {first:,} {'is' if first == 1 else 'are'} {still}{where}{rest}.{hint}"
    return text, 2 * lost_at[None] <= lost_at.total()


def relevant_word(evaluation: Evaluation) -> str:
    """Return what is counted and lost: a `relevant passage` where nothing else is judged, else a `relevant document`."""
    judged = [query.passages for query in evaluation.counted if query.judgments]
    return f"relevant {'passage' if judged and all(judged) else 'document'}"


def stage_rows(evaluation: Evaluation) -> list[ScoreRow]:
    """Return a row of the score table for each stage: which share of the relevant documents it holds, `recall of candidates`."""
    return [
        ScoreRow(f"recall of {name}", None, n, share, share, gate="", verdict="")
        for name, (n, share) in _recall(evaluation).items()
    ]


def _recall(evaluation: Evaluation) -> dict[str, tuple[int, float]]:
    """Return stage → how many queries with relevant documents have it, and which share of these it holds."""
    shares: dict[str, list[float]] = {}
    weights: dict[str, list[float]] = {}
    for query, relevant in _with_stages(evaluation):
        for name, ranks in evaluation.retrieved.stages[query.id].items():
            shares.setdefault(name, []).append(len(relevant.intersection(ranks)) / len(relevant))
            weights.setdefault(name, []).append(query.weight)
    return {name: (len(shares[name]), mean(shares[name], weights[name])) for name in shares}


def _with_stages(evaluation: Evaluation) -> Iterator[tuple[Query, set[str]]]:
    """Yield the queries of which stages are known, with their relevant documents, where they have some."""
    stages = evaluation.retrieved.stages
    for query in evaluation.counted if stages else ():
        relevant = evaluation.golden.relevant(query)
        if relevant and query.id in stages:
            yield query, relevant


def _at(name: str | None) -> str:
    """Return `among the candidates` of a stage whose name ends like a plural, `in dense` of any other, `in no stage` of none."""
    if name is None:
        return "in no stage"
    return f"among the {name}" if name.endswith("s") else f"in {name}"
