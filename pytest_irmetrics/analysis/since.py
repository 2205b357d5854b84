"""Judge a test's run, and its stored baseline, against the baseline of another commit: what a branch accepts (``--ir-since``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import NamedTuple

from pytest_irmetrics.analysis.edits import edit_sentences, edits_of
from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.analysis.signs import find_sign
from pytest_irmetrics.base.numbers import TOLERANCE, change_text, score_text, signed_text
from pytest_irmetrics.base.wording import FEW, joined, listed, plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.comparison.stored_runs import golden_set_as_stored
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.gates.decide import decide
from pytest_irmetrics.gates.stored_limits import Edit, EditKind, limit_edits, read_limits
from pytest_irmetrics.gates.verdict import ON_ALL_ANSWERS, Against, Case, Verdict, with_each_tag
from pytest_irmetrics.golden import GoldenSet, Query
from pytest_irmetrics.metrics import Metric
from pytest_irmetrics.reports.item_report import SinceReport, mean_name
from pytest_irmetrics.run import Run
from pytest_irmetrics.thresholds import COMPARING_WORDS, STATES, Gates

_ORIGIN = "the limits stored with that commit's baseline"
"""Where the limits were set that judged the other commit's baseline."""

_ABOUT_ANSWERS = ("forbidden", "no_answer")
"""The words of verdicts that an edit of the golden set alone can turn."""

_OF_TODAY = ("significance", "errors", *ON_ALL_ANSWERS)
"""The words of verdicts in which the other commit has no say: what fails by them fails today."""

_LOOSENED = "this branch loosened its limits"
_ADDED = "this branch added limits, which share one level of significance"
_EDITED = "this branch edited the golden set"

_CURE = "To accept it, add `-o ir_accept=warn` to this command; else mend the search, and store its baseline again."


class CommittedTest(NamedTuple):
    """A test's baseline and golden set at another commit."""

    report: SinceReport
    """What is to be reported of it, of a test that is new."""
    run: Run | None = None
    """None where there was no baseline, or `why` says why it cannot be read."""
    golden: GoldenSet | None = None
    """The golden set; None where it is not known beyond what the baseline was judged with."""
    why: str = ""
    """Why the run, or else the golden set, is not known."""
    renamings: Sequence[str] = ()
    """Sentences on where the baseline, or answers in it, stood, if not where they stand today."""
    is_partial: bool = False
    """Whether the run is a part alone of that baseline, of which the rest is elsewhere."""


def add_since(result: ItemResult, stored: Evaluation | None, gates: Gates, committed: CommittedTest) -> None:
    """Compare a test with another commit, and add to its result what there is to report, and verdicts on what fails against that alone.

    `stored` is what today's run is compared with, None where that is being stored, and `gates` are today's as they were
    written. The verdicts are *accepted*, or failed where nothing may be. Where today's gates pass, the result then shows that comparison.
    """
    run, report = committed.run, committed.report
    if result.against.given and run is None and not committed.why:
        return  # nobody stores a baseline of a test that is compared with another run
    result.since = report
    if run is not None:
        _add_comparison(result, stored, gates, committed, run)
    elif committed.why:
        text = f"The baseline of {report.where} cannot be read. {committed.why}"
        _add_accepted(result, committed, [(Verdict("failed", text, "baseline"), "what it lowers is unknown")])
    else:
        report.details = ["There is no baseline of this test to compare with."]


def _add_comparison(
    result: ItemResult, stored: Evaluation | None, gates: Gates, committed: CommittedTest, run: Run
) -> None:
    """Add to a test's result what moved since its run at the commit, what was edited, and what fails against that run alone."""
    now, report = result.evaluation, committed.report
    comparison = Comparison(now, now.of_run(run))
    limits, of_both = read_limits(run, now.custom, _ORIGIN), with_each_tag(gates, now, comparison)
    if limits is not None:  # the worse verdict counts
        of_both = Gates(of_both, own=of_both.own, also=[with_each_tag(limits, now, comparison)])
    edits = [*_edits(comparison, limits, gates, committed)]
    report.holds_less = any(edit.holds_less for edit in edits)
    slices = chain.from_iterable(one.slices for one in (of_both, *of_both.also))
    gated = dict.fromkeys((metric, tag) for metric, tag in slices if metric.is_compared)

    # From here on what was counted and forbidden at the commit is today, too, and what was measured there is.
    measured = replace(now, metrics=tuple(dict.fromkeys([*now.metrics, *(metric for metric, _ in gated)])))
    strict_now = _as_strict_as_before(measured, edits, committed.golden)
    strict_comparison = Comparison(strict_now, strict_now.of_run(run))
    found = _judge(result, strict_comparison, of_both, committed)
    falls_today = any(verdict.failed for verdict in found)
    if stored is not None and not result.against.given and _differ(stored.run, now.run):
        found += _judge_stored(stored.run, strict_comparison, of_both, found, report.where)
    forbids = any(query.forbidden for query in strict_now.golden.queries.values())
    reads_on = forbids or any(metric.cutoff is None for metric, _ in gated)
    accepted = [*_not_judged_today(limits, edits, report.where, whole=reads_on)]
    is_updated = stored is None or _differ(stored.run, run)
    for verdict in (one for one in found if one.failed):
        # A metric that was gated at that commit alone has no score today.
        metric = verdict.metric if verdict.metric in now.metrics else None
        why = _why_it_passes(verdict, result, gates, committed, is_updated=is_updated)
        accepted.append((verdict._replace(metric=metric), why))
    moved = [*_moved_means(strict_comparison, measured, run, gated)]
    if not (moved or accepted or strict_comparison.is_unchanged):
        moved = [f"Answers differ, and no gated mean moved. {find_sign(strict_comparison).text}".rstrip()]
    undecided = [verdict.text for verdict in found if verdict.state == "undecided"]
    report.details = [*committed.renamings, *undecided, *moved, *edit_sentences(edits)]
    report.state = "changed" if report.details else "unchanged"
    report.details += [f"Note: {committed.why}"] if committed.why else []
    if falls_today and stored is not None and not result.failed:
        # What is shown of it is what fell: its means, its queries, what kind of change it is.
        result.comparison, result.against = strict_comparison, Against(report.where)
    _add_accepted(result, committed, accepted)


def _edits(
    comparison: Comparison, limits: Gates | None, gates: Gates, committed: CommittedTest
) -> Iterator[Edit]:
    """Yield how the golden set, the depth and the limits were edited since the commit whose run today's is compared with."""
    run, now = comparison.baseline.run, comparison.now_in_full
    yield from edits_of(comparison, committed.golden)
    if run.depth and now.depth and run.depth != now.depth:
        yield Edit(EditKind.DEPTH, "", str(run.depth), str(now.depth), holds_less=now.depth < run.depth)
    # Those of a part are on the rest as well, which may have them still.
    if limits is not None and not committed.is_partial:
        yield from limit_edits(limits, gates, now.golden.queries, run.means)


def _judge(
    result: ItemResult, comparison: Comparison, gates: Gates, committed: CommittedTest
) -> list[Verdict]:
    """Judge today's run against the run of the commit, by the limits of both; return each verdict that today's do not give already."""
    states = {verdict.key: verdict.state for verdict in result.verdicts}
    against = Against(committed.report.where)
    return [
        verdict
        for verdict in decide(Case(comparison.now_in_full, gates, comparison, against))
        if verdict.word not in _OF_TODAY
        and states.get(verdict.key) not in ("failed", verdict.state)
        # Over the other run that the test is compared with.
        and not (verdict.word == "min_gain" and result.against.given)
        # What a limit of that commit is on may be in the other part.
        and not (committed.is_partial and verdict.over_no_query)
    ]


def _judge_stored(
    stored: Run, comparison: Comparison, gates: Gates, of_today: Iterable[Verdict], where: str
) -> Iterator[Verdict]:
    """Judge the baseline that is stored today against the run of the commit; yield the verdicts on it, but for those by which today's run fails, too."""
    today = comparison.now_in_full
    held = today.of_run(stored).narrowed(stored.answers, None)
    itself = Comparison(held, today.of_run(comparison.baseline.run))
    failed = {verdict.key for verdict in of_today if verdict.failed}
    for verdict in decide(Case(held, gates, itself, Against(where))):
        if verdict.word in ("baseline", *COMPARING_WORDS) and verdict.key not in failed:
            # Its queries are shown as they are today, where they may be no worse.
            text = f"The stored baseline: {verdict.text} {_who_pays(verdict.queries)}".rstrip()
            yield verdict._replace(text=text, queries=(), as_stored=True)


def _why_it_passes(
    verdict: Verdict, result: ItemResult, gates: Gates, committed: CommittedTest, *, is_updated: bool
) -> str:
    """Say why what fails against the commit alone passes today: limits, the golden set or the baseline are others, or it is compared with another run."""
    may_answer = any(metric.kind == "no_answer" for metric, _ in gates.slices)
    if verdict.origin == _ORIGIN or (verdict.word == "no_answer" and may_answer):
        is_looser = committed.report.holds_less or committed.is_partial
        return _ADDED if verdict.holds_to_baseline and not is_looser else _LOOSENED
    if verdict.word in _ABOUT_ANSWERS:
        return _EDITED
    if result.against.given:
        return "this test is compared with another run"
    return "this branch updates its baseline" if is_updated else _EDITED


def _not_judged_today(
    limits: Gates | None, edits: Iterable[Edit], where: str, *, whole: bool
) -> Iterator[tuple[Verdict, str]]:
    """Yield a failed verdict on what the commit's baseline was judged by and today's run cannot be, and why that passes today.

    `whole` is whether answers are looked through to their ends, for a metric without a cut-off or for what is forbidden.
    """
    for text in () if limits is None else limits.unreadable:
        lost = f"{text} judged it at {where}, and cannot be computed."
        yield Verdict("failed", lost, "", origin=_ORIGIN), _LOOSENED
    for depth in (edit for edit in edits if whole and edit.kind is EditKind.DEPTH and edit.holds_less):
        unseen = f"Nothing below rank {depth.now} is seen: {depth.before} results were asked for at {where}."
        yield Verdict("failed", unseen, "baseline"), _LOOSENED


def _as_strict_as_before(now: Evaluation, edits: Iterable[Edit], before: GoldenSet | None) -> Evaluation:
    """Return an evaluation that counts the queries which this branch excludes, and forbids what it does not forbid any more."""
    excluded = {edit.what for edit in edits if edit.kind is EditKind.EXCLUDED}
    queries = [replace(q, xfail=None) if q.id in excluded else q for q in now.golden.queries.values()]
    if before is not None:
        queries = [_query_as_strict(query, before.queries.get(query.id)) for query in queries]
    return replace(now, golden=replace(now.golden, _queries=queries))


def _differ(one: Run, other: Run) -> bool:
    """Tell whether a query that both runs have got other answers, any of those that were repeated."""
    return any(one.answers[i].rankings != other.answers[i].rankings for i in one if i in other)


def _query_as_strict(query: Query, before: Query | None) -> Query:
    """Return a query that forbids what it forbade at the commit, too, and that is to find nothing if it was there."""
    if before is None or (before.no_answer, before.forbidden) == (query.no_answer, query.forbidden):
        return query
    if before.no_answer:
        return replace(query, judgments={}, passages=(), no_answer=True)
    return replace(query, forbidden=tuple(dict.fromkeys([*query.forbidden, *before.forbidden])))


def _add_accepted(result: ItemResult, committed: CommittedTest, found: Sequence[tuple[Verdict, str]]) -> None:
    """Add failed verdicts, each with why it passes today, as accepted ones; as such that fail where nothing may be."""
    if found:
        committed.report.state = "refused" if committed.report.refuses else "accepted"
    verdicts: list[Verdict] = []
    for one, why in found:
        if committed.report.refuses:
            text = f"{one.text} {why.capitalize()}, which `ir_accept = fail` does not allow."
            details, origin = () if verdicts else (*committed.renamings, _CURE), "the setting ir_accept"
            verdict = one._replace(word="accept", text=text, details=details, origin=origin)
        else:
            passes = "is accepted" if result.failed else "passes"
            verdict = one._replace(state="accepted", text=f"{one.text} It {passes}, because {why}.")
        verdicts.append(verdict)
    verdicts += result.verdicts
    result.verdicts = tuple(sorted(verdicts, key=lambda verdict: STATES.index(verdict.state)))


def _moved_means(
    comparison: Comparison, now: Evaluation, run: Run, gated: Iterable[tuple[Metric, str | None]]
) -> Iterator[str]:
    """Yield a sentence on each gated mean that moved, with the parts that edits and the retriever have in that, and who pays."""
    golden, depth = golden_set_as_stored(run), run.depth or now.depth
    as_judged_before = replace(comparison.baseline, golden=golden, depth=depth, only=None)
    by_stored_labels = comparison.under_stored_labels or comparison
    paired = now.narrowed(comparison.paired, comparison.depth)
    dropped = "dropped" if len(comparison.paired) < len(run) else "depth"
    added = "added" if comparison.new else "reworded" if len(comparison.paired) < len(now.run) else "depth"
    for metric, tag in gated:
        change, change_by_stored = (one.change(metric, tag) for one in (comparison, by_stored_labels))
        if metric.kind == "overlap" and change.delta < -TOLERANCE:
            yield f"{mean_name(metric, tag)} with the answers at that commit: {score_text(change.now)}."
        # From the mean at that commit to today's: what is changed next → the mean after that.
        steps = [
            ("", as_judged_before.mean_or_none(metric, tag)),
            (dropped, change_by_stored.baseline),
            (joined(comparison.changed_labels(tag)) or "judgments", change.baseline),
            ("retriever", change.now),
            ("excluded", paired.mean_or_none(metric, tag)),
            (added, now.mean_or_none(metric, tag)),
        ]
        means = [(part, mean) for part, mean in steps if mean is not None]
        moves = [(part, mean - was) for (_, was), (part, mean) in pairwise(means)]
        shown = ", ".join(f"{part} {signed_text(delta)}" for part, delta in moves if abs(delta) > TOLERANCE)
        if shown and len(means) == len(steps):
            if change_by_stored.delta < min(change.delta, 0.0) - TOLERANCE:
                shown += f" (by the labels at that commit {signed_text(change_by_stored.delta)})"
            moved = f"{mean_name(metric, tag)} {change_text(means[0][1], means[-1][1])}: {shown}."
            yield f"{moved} {_who_pays(change.worse or change_by_stored.worse)}".rstrip()


def _who_pays(worse: Sequence[str]) -> str:
    """Name the queries that score lower than at the commit; empty where none does."""
    return f"{plural(len(worse), 'query pays', 'queries pay')}: {listed(worse, FEW)}." if worse else ""
