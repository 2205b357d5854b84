"""Judge the words that hold a run against another, such as ``max_drop``; check that the other is as it was stored, and enough queries in both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pytest_irmetrics.base.numbers import TOLERANCE, interval_ends_text, score_text, signed_text
from pytest_irmetrics.base.wording import joined, listed, plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.comparison.metric_change import MetricChange, RunNoise
from pytest_irmetrics.evaluation import NoQueryError
from pytest_irmetrics.gates.verdict import Against, Case, Verdict, at_least, subject
from pytest_irmetrics.golden import Query
from pytest_irmetrics.run.answer import how_to_restore
from pytest_irmetrics.thresholds import STATES, WORDS, Gate, State

_MIN_PAIRED = 0.5
"""The share of the baseline's queries, by weight, under which too few are paired to judge the rest by. docs/baseline.md, since.md, statistics.md and `check_pairing` say half."""

_MAX_EDITED = 0.1
"""The share of the baseline's queries, by weight, of which passages may be edited before a fall could hide behind that. docs/baseline.md, passages.md and `check_pairing` say a tenth."""

_LEVEL = 0.05
"""The p below which a fall is no chance, unless ``significance`` says otherwise; also for the mean over other queries. docs/thresholds.md and statistics.md have it."""

_MOST_LOST = 1
"""How many more queries may fall to 0 than rise from it where `auto` passes; docs/thresholds.md, statistics.md and README.md follow."""


def judge_move(case: Case, gate: Gate) -> Verdict | None:
    """Judge how a metric moved: under today's labels, and where these were edited under the stored ones; the worse counts."""
    comparison, against = case.comparison, case.against
    if (verdict := not_comparable(case, gate)) is not None or comparison is None:
        return verdict
    sides = (comparison, comparison.under_stored_labels)
    moves = [_Move(gate, case, comparison, one) for one in sides if one is not None]
    if verdicts := [_BY_WORD[gate.word](move) for move in moves if move.change.n]:
        return min(verdicts, key=lambda one: STATES.index(one.state))
    if before := moves[0].change.before:
        why = f"A gate over no query: {subject(gate)} leaves out today whatever it counted in {against.name}."
        return Verdict.of(gate, "failed", why, queries=tuple(before), over_no_query=True)
    reason = f"{against.name} {'has none of its queries' if gate.query_id is None else 'does not have this query'}."
    try:
        case.score(gate)
    except NoQueryError as error:
        if not gate.by_default:
            raise
        reason = str(error)  # nobody asked for a gate on this metric of this set
    return Verdict.of(gate, "not checked", f"{subject(gate)}: {gate.word} is not checked, because {reason}")


def not_comparable(case: Case, gate: Gate) -> Verdict | None:
    """Return the verdict on a gate that compares where there is nothing to compare with, too little or too shallow; else None."""
    comparison, against = case.comparison, case.against
    if comparison is None:
        in_test = "check(against=…) or " if WORDS[gate.word].compares_with == "run" else ""
        option = against.to_compare or f"{in_test}--ir-baseline"
        text = f"{subject(gate)}: {gate.word} {gate.limit} is not checked without {option}."
        return Verdict.of(gate, "not checked", text)
    depth = comparison.baseline.depth
    # The whole set has a verdict of its own.
    share = 1.0 if gate.tag is None else comparison.paired_share(gate.tag)
    if not gate.metric.is_within(depth):
        holder = against.name if gate.metric.is_within(comparison.now_in_full.depth) else "today's run"
        text = f"{subject(gate)} needs {gate.metric.cutoff} results, and {holder} holds {depth}."
        advice = "Store a deeper one." if against.update_command else "Give a deeper one."
    elif share < _MIN_PAIRED:
        text, advice = _too_few_paired(comparison, share, against, gate.tag), _pair_again(against)
    else:
        return None
    return Verdict.of(gate, "failed", text, details=(advice,))


def check_unedited(case: Case) -> Iterator[Verdict]:
    """Fail where the baseline's header tells other means than its rankings give: the file was edited."""
    comparison, file = case.comparison, case.against.file
    # A gating run judges by it; an update of single queries keeps its other answers. One of all, or a look at single ones, uses none.
    is_used = case.storing == case.single_queries_only
    if comparison is None or not file or not is_used:
        return
    if wrong := comparison.edited_means:
        first, *others = wrong
        gives = "none" if first.found is None else score_text(first.found, first.stated)
        names = listed([mean.metric.name for mean in others])
        also = f" {names} {'differs' if len(others) == 1 else 'differ'} too." if others else ""
        text = f"{file} was edited after it was stored: its header says {first.metric.name} {score_text(first.stated, first.found)}, and its rankings and judgments give {gives}.{also}"
        yield Verdict("failed", text, "baseline", details=(how_to_restore(file),))


def check_pairing(case: Case) -> Iterator[Verdict]:
    """Fail where less than half of the baseline's weight is compared, or the passages of more than a tenth are edited.

    So too where a run that the test gave answers less than half of today's weight.
    """
    comparison, against = case.comparison, case.against
    if comparison is None or case.storing or case.single_queries_only:
        return
    share = comparison.paired_share()
    others, others_share = comparison.passages_edited, comparison.share_of(comparison.passages_edited)
    queries = (*comparison.reworded, *others, *comparison.new)
    both, today = comparison.now.counted, comparison.now_in_full.counted
    if share < _MIN_PAIRED:
        text = _too_few_paired(comparison, share, against)
    elif against.given and _weight(both) < _MIN_PAIRED * _weight(today):
        text = f"Of {plural(len(today), 'query')} {against.name} answers only {len(both):,} in these words, by weight less than half."
    elif not at_least(_MAX_EDITED, others_share):
        name, queries = against.name, others
        text = f"{plural(len(others), 'query')} of {name}, {_per_cent(others_share)} by weight, {'judges' if len(others) == 1 else 'judge'} other passages now: {listed(others)}. {name[0].upper()}{name[1:]} was not searched for these, so a fall could hide behind the edit."
    else:
        return
    yield Verdict("failed", text, "baseline", queries=queries, details=(_pair_again(against),))


def _weight(queries: Iterable[Query]) -> float:
    """Return what some queries weigh in a mean, together."""
    return math.fsum(query.weight for query in queries)


def _too_few_paired(comparison: Comparison, share: float, against: Against, tag: str | None = None) -> str:
    """Say which share of the baseline's queries, or of those with a tag, is still asked in the same words.

    The share is by weight. Of the whole set it is said, too, where the others are.
    """
    passages = len(comparison.passages_edited)
    others = f": {len(comparison.removed):,} removed, {len(comparison.reworded):,} reworded, {len(comparison.new):,} new{f', {passages:,} with other passages' if passages else ''}"
    tagged, others = ("", others) if tag is None else (f" tagged {tag}", "")
    return f"Only {_per_cent(share)} of {against.name}'s queries{tagged} (by weight) are still asked in the same words{others}. That is too few to say that nothing regressed."


def _pair_again(against: Against) -> str:
    """Say what makes queries pair again."""
    if not against.update_command:
        return "Ids and texts pair the queries: compare with a run of this golden set."
    return "Restore the ids and texts, or store a new baseline."


def _per_cent(share: float) -> str:
    """Round down: less than a half must not read as one."""
    return f"{math.floor(share * 100 + TOLERANCE)}%"


@dataclass(eq=False)
class _Move:
    """How a metric moved from another run under one set of labels, and the gate that judges it."""

    gate: Gate
    case: Case
    today: Comparison
    """The comparison of the two runs under today's labels."""
    comparison: Comparison
    """The same under the labels of this move."""

    @cached_property
    def change(self) -> MetricChange:
        """How the mean moved, or the score of the one query that the gate is on."""
        gate = self.gate
        change = self.comparison.change(gate.metric, gate.tag)
        return change if gate.query_id is None else change.of_query(gate.query_id)

    @cached_property
    def noise(self) -> RunNoise | None:
        """How much the mean varies between runs of one retriever; None where it does not, and for a query's score."""
        return None if self.gate.query_id else self.comparison.run_noise(self.gate.metric, self.gate.tag)

    @property
    def margin(self) -> float:
        """How far beyond its limit a fall may still be run noise."""
        return 0.0 if self.noise is None else self.noise.margin

    @property
    def level(self) -> float | None:
        """The level of p from which on a fall may be chance; None where every fall beyond the limit fails."""
        gate, default = self.gate, _LEVEL if self.gate.limit.auto else None
        given = None if gate.query_id else self.case.gates.of(gate.metric, gate.tag).get("significance")
        return default if given is None else given.limit.value

    def judge_gain(self) -> Verdict:
        """Judge a ``min_gain``: how far a mean rose."""
        change, least = self.change, self.gate.allowed(self.change.baseline)
        size = abs(change.delta)
        moved, against = score_text(size, least), self.case.against.name
        moved = f"rose by {moved} over" if change.delta > 0 else f"fell by {moved} from"
        moved = moved if size > TOLERANCE else "did not move from"
        now = f"{'to' if size > TOLERANCE else 'at'} {score_text(change.now, change.baseline)}"
        limit = score_text(least, size)
        text = f"{subject(self.gate)} {moved} {against}, {now}; a rise of at least {limit} is required."
        state: State = "passed" if at_least(change.delta, least) else "failed"
        return self._verdict(state, text, change.delta, least)

    def judge_lost(self) -> Verdict:
        """Judge a ``max_lost``: how many queries scored before and score 0 now."""
        lost, limit = len(self.change.lost), self.gate.limit.value
        allowed = f"at most {self.gate.limit}" if limit else "none"
        scored = plural(len(self.change.before), "query")
        text = f"{lost:,} of {scored} fell to 0 by {subject(self.gate)}; {allowed} may."
        return self._verdict("passed" if at_least(limit, lost) else "failed", text, lost, limit)

    def judge_drop(self) -> Verdict:
        """Judge a ``max_drop``: how far a mean fell, and whether run noise or chance explains that."""
        gate, change, against = self.gate, self.change, self.case.against.name
        fall, limit = -change.delta, gate.allowed(change.baseline)
        share = f" ({gate.limit} of {score_text(change.baseline)})" if gate.limit.percent else ""
        rule = f"at most {score_text(limit, fall, 0.0)}{share} is allowed"
        size, now = score_text(fall, limit), score_text(change.now, change.baseline)
        fell = f"{subject(gate)} fell by {size} from {against} to {now}"
        state: State = "failed"
        if at_least(limit, fall):
            moved = f"moved by {signed_text(change.delta)}" if abs(fall) > TOLERANCE else "did not move"
            state, text = "passed", f"{subject(gate)} {moved} from {against}; {rule}."
        elif self.noise is not None and 0 < (change.baseline or 0.0) <= limit + self.margin:
            text = f"{fell}; {rule}. It cannot be judged: answers differ so much from one time to the next that even 0 would pass. Ask more often."
        elif at_least(limit + self.margin, fall):
            more = f"up to {score_text(self.margin)} more is run noise"
            why = "which answers that differ from one time to the next explain"
            if self.noise and min(self.noise.asked) > 1 and {*change.worse}.isdisjoint(self.noise.unstable):
                why = "by queries that scored alike each time, and the noise of others hides that much"
            state, text = "undecided", f"{fell}, {why}: undecided ({rule}, and {more})."
        elif (reason := self._why_it_fails(fall)) is not None:
            text = f"{fell}; {rule}{reason}."
        else:
            state, text = "undecided", f"{fell}, which may be chance: undecided{self._chance()}"
        return self._verdict(state, text, fall, limit)

    def _why_it_fails(self, fall: float) -> str | None:
        """Return why a fall beyond its limit fails, as text that follows the limit; empty where chance is not asked for, None where it may be chance."""
        gate, change, level, auto = self.gate, self.change, self.level, self.gate.limit.auto
        if auto and not at_least(most := gate.fails_beyond(change.baseline), fall):
            return f", {score_text(most, fall)} where it may be chance"
        if level is None:
            return ""
        p, adjusted = self._adjusted_p
        if p is not None and p < level:
            said = _p_text(p, level) + (f"{adjusted}," if adjusted else "")
            return f". {said} is below the significance {level:g}"
        if auto and len(change.lost) - len(change.found) > _MOST_LOST:
            return f". {len(change.lost)} queries fell to 0, and {len(change.found) or 'none'} rose from it"
        # Where a significance is asked for and no p can be told, it fails.
        return "" if p is None and not auto else None

    def _verdict(self, state: State, text: str, value: float, limit: float) -> Verdict:
        """Return the verdict on a value: with the queries that explain it, and what else the move shows."""
        gate, change = self.gate, self.change
        labels, as_stored = self.today.changed_labels(gate.tag), self.comparison is not self.today
        lead = f"Under the {joined(labels)} stored with {self.case.against.name}, " if as_stored else ""
        worse = () if state == "passed" else change.worse
        return Verdict.of(
            gate,
            state,
            lead + text,
            queries=change.lost if gate.word == "max_lost" else worse,
            details=(*self._by_labels(labels), *self._statistics(state, limit)),
            limit=limit,
            value=value,
            as_stored=as_stored,
            on_fall=gate.word == "max_drop" and not gate.query_id and state == "failed",
        )

    @cached_property
    def _adjusted_p(self) -> tuple[float | None, str]:
        """The p-value, adjusted for all gates of the test that are judged by one in the same way (Holm), and what is said of that."""
        from pytest_irmetrics.comparison.significance import holm  # noqa: PLC0415 - only for a fall beyond its limit

        family: dict[Gate, float] = {}
        for gate in self.case.gates:
            alike = gate.word == "max_drop" and gate.limit.auto == self.gate.limit.auto
            if alike and not_comparable(self.case, gate) is None:
                one = replace(self, gate=gate)
                if one.level is not None and one.change.p_value is not None:
                    family[gate] = one.change.p_value
        adjusted = dict(zip(family, holm(list(family.values())), strict=True))
        said = f", adjusted for {len(family)} gates (Holm)" if len(family) > 1 else ""
        return adjusted.get(self.gate), said

    def _chance(self) -> str:
        """Say how likely a fall is that may be chance, and how far one must be that is not; or that too few queries changed to tell."""
        (p, adjusted), level = self._adjusted_p, self.level or _LEVEL
        if p is None:
            return "."
        if too_few := self._too_few_changed(level):
            held = any(one.word == "max_lost" and one.tag in (None, self.gate.tag) for one in self.case.gates)
            unheld = self.change.lost and not held
            return f". {too_few}{' To fail on a query that falls to 0: max_lost=0.' if unheld else ''}"
        from pytest_irmetrics.comparison.significance import FALSE_ALARM_ONE_IN, drop_for_chance  # noqa: PLC0415 - as above

        enough = drop_for_chance([*self.change.weighted_differences.values()], self.margin)
        # Adjusted for several gates, p may be high beside a fall that chance rarely gives.
        is_rare = enough + self.margin <= -self.change.delta
        would = f"; max_drop {enough:g} would fail one harmless change in {FALSE_ALARM_ONE_IN}"
        return f" ({_p_text(p, level, sign=' ')}{adjusted}{'' if is_rare else would})."

    def _too_few_changed(self, level: float) -> str:
        """Say that so few queries changed that no p could be below this level; empty where one could."""
        from pytest_irmetrics.comparison.significance import smallest_p  # noqa: PLC0415 - as above

        change, count = self.change, self.change.changed
        least = smallest_p(count)
        if least < level:
            return ""
        if count == 1:
            return "Only 1 query changed: too few to generalise from, but this one did break."
        how, broke = "all down", "these"
        if change.better:
            worse = len(change.worse)
            how, broke = f"{worse} of them down", "that one" if worse == 1 else "those"
        return f"Only {count} queries changed, {how}. The smallest p that {count} can give is {score_text(least, level, digits=2)}: too few to generalise from, but {broke} did break."

    @property
    def moved(self) -> str:
        """How far it moved, in two or three words."""
        if self.gate.word == "max_lost":
            return f"{len(self.change.lost):,} fell to 0" if self.change.lost else "none fell to 0"
        return signed_text(self.change.delta) if self.change.n else "nothing to compare"

    def _by_labels(self, labels: Sequence[str]) -> Iterator[str]:
        """Yield what the move is by the stored labels and by today's, where these are others."""
        stored = self.today.under_stored_labels
        if stored is None or not labels:
            return
        was, is_now = (replace(self, comparison=one).moved for one in (stored, self.today))
        hidden = self.comparison is stored
        if hidden or was != is_now:
            yield f"By the stored {joined(labels)} {was}, by today's {is_now}; the worse counts."
        if hidden:
            edited = f"Edited {joined(labels)} alone cannot make it pass"
            yield f"{edited}: accept today's run, or undo the change of the search."

    def _statistics(self, state: State, limit: float) -> Iterator[str]:
        """Yield how many queries moved, how far answers vary, and whether the mean over others likely fell too; of means alone."""
        gate, change = self.gate, self.change
        if gate.query_id or WORDS[gate.word].range == "count":
            return
        worse, better, same = map(len, (change.worse, change.better, change.same))
        yield f"{plural(change.n, 'query')}: {worse:,} worse, {better:,} better, {same:,} same."
        if self.noise is not None:
            yield noise_text(self.noise, None if WORDS[gate.word].compares_with == "run" else limit)
        if state == "failed" and gate.word == "max_drop":
            yield from self._generality()

    def _generality(self) -> Iterator[str]:
        """Say whether the mean over other queries likely fell too, or that these are too few to tell.

        Of that nothing where most of the fall is in one slice.
        """
        change = self.change
        if change.p_value is None or change.interval is None:
            return
        if too_few := self._too_few_changed(_LEVEL):
            yield too_few
            return
        from pytest_irmetrics.comparison.slices import main_slice  # noqa: PLC0415 - as above

        exact = "Exact for these two runs on this golden set" if self.noise is None else ""
        if change.tag is None and main_slice(self.comparison, change.metric) is not None:
            if exact:
                yield f"{exact}."
            return
        shown = f"95 % interval {interval_ends_text(change.interval)}"
        if change.p_value < _LEVEL and change.interval[1] < -TOLERANCE:
            lead, p = f"{exact}. " if exact else "", _p_text(change.p_value, _LEVEL)
            yield f"{lead}The mean over other queries drawn like these likely fell too ({p}, {shown})."
        else:
            lead = f"{exact}; too" if exact else "Too"
            yield f"{lead} few queries to tell whether the mean over others fell too ({shown})."


def _p_text(p: float, level: float, sign: str = " = ") -> str:
    """Print a p with its sign, `p = 0.02`, and two or three decimals, or more beside a level that it would else print like."""
    smallest = min(0.001, level)
    if p < smallest:
        return f"p < {smallest:g}"
    return f"p{sign}{score_text(p, level, digits=3 if p < 0.01 else 2)}"


def noise_text(noise: RunNoise, limit: float | None) -> str:
    """Say how much a mean varies from run to run, and up to which fall it passes with this ``limit``."""
    now, before = noise.asked
    asked = f"{plural(now, 'answer')} a query today and {before} in the baseline"
    if now == before:
        asked = f"{now} answers a query on each side"
    beyond = "" if limit is None else f": a fall of up to {score_text(limit + noise.margin, limit)} passes"
    unstable = f" Least stable: {', '.join(noise.unstable[:3])}." if noise.unstable else ""
    spread = f"{score_text(noise.deviation)} from run to run (standard deviation)"
    return f"With {asked} the difference varies by {spread}{beyond}.{unstable}"


_BY_WORD: Mapping[str, Callable[[_Move], Verdict]] = {
    "max_drop": _Move.judge_drop,
    "max_lost": _Move.judge_lost,
    "min_gain": _Move.judge_gain,
}
"""Each of `COMPARING_WORDS`, with its judge; one that counts queries, as `max_lost` does, stands beside that in `_verdict` and `moved`."""
