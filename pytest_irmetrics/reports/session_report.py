"""The report of a whole pytest session, and the sentences that sum it up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from pytest_irmetrics.base.numbers import LATENCY_DIGITS, TOLERANCE, score_text, signed_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.metrics import FAMILIES
from pytest_irmetrics.reports.item_report import ItemReport, ScoreRow, VerdictReport

_NAMED = 20
"""How many baselines, or tests, a note names."""

HIDDEN = ("skipped", "xfailed")
"""The outcomes with which a test fails no run, whatever fell."""

_ENDINGS = {
    1: "The command failed all the same: by tests without a mean, or a baseline not stored or gone.",
    2: "The run was interrupted; what follows was measured until then.",
    3: "The run ended in an internal error; what follows was measured until then.",
    5: "No test was run.",
}
"""What pytest's exit statuses mean, where the golden sets do not explain them."""


class RunInfo(NamedTuple):
    """When a session ran, how long it took, and on what, by `Recorder._run_info`. The JSON report has these by name; a new one needs a default, as older reports lack it."""

    started: str
    """Local time with its offset, ISO 8601 to the second: `2026-03-01T09:30:00+01:00`."""
    seconds: float
    """From the session's start until its reports were written."""
    commit: str = ""
    """The commit that was checked out; empty where none is known."""
    versions: Mapping[str, str] = {}
    """`python`, `pytest` and `pytest-irmetrics`."""
    folder: str = ""
    """Where pytest was called, relative to the repository's root; empty for the root itself, or outside of a repository."""


class SessionReport(NamedTuple):
    """What one pytest session measured and stored: all that the terminal summary and the report files are made of.

    A JSON report has of it, besides the tests, what `_OF_SESSION` of formats/json.py names.
    """

    items: Sequence[ItemReport] = ()
    """By node id."""
    exit_status: int = 0
    """pytest's own."""
    outcomes: Mapping[str, str] = {}
    """Node id → pytest's outcome of the whole test: `passed`, `failed`, `skipped`, `xfailed` or `xpassed`."""
    unmeasured: Mapping[str, str] = {}
    """Node id → failure message, of tests that failed before anything was measured, as for a broken golden set."""
    unused_baselines: Sequence[str] = ()
    """The paths of the stored baselines that no test of the session read, sorted."""

    info: RunInfo | None = None
    """None where nothing is known of the run, as of a stored one."""
    gone_since: Sequence[str] = ()
    """With ``--ir-since``: the baselines that were there and are gone, with their tests."""

    baselines_passed_over: int = 0
    """How many stored baselines were not compared with, as nothing asked for that."""

    # For the terminal and annotations alone:
    failures_printed: bool = True
    """Whether pytest printed each failure's message."""
    problems: Sequence[str] = ()
    """What could not be stored or written."""
    stored: Sequence[str] = ()
    """``path: stored`` or ``path: unchanged`` for each baseline."""
    written: Sequence[str] = ()
    """The report files that were written."""
    notes: Sequence[str] = ()

    @property
    def failures_first(self) -> list[ItemReport]:
        """The evaluated items: those that fail, the worst first, then the others in their order."""
        failing = sorted(filter(self.fails, self.items), key=_severity)
        return [*failing, *(item for item in self.items if not self.fails(item))]

    @property
    def unit(self) -> str:
        """The noun that items are counted by: `golden set`, or `test` where several tests check one golden set."""
        return "golden set" if len({item.golden_set for item in self.items}) == len(self.items) else "test"

    @property
    def names(self) -> dict[str, str]:
        """Node id → what a test is called: its golden set, with what tells it from other tests of that set.

        That is their parameters, `golden/faq.yaml [bm25]`, or of several functions what their ids differ in, `golden/faq.yaml, TestBM25`.
        """
        groups: dict[str, list[str]] = {}
        for item in self.items:
            groups.setdefault(item.golden_set, []).append(item.nodeid)
        found: dict[str, str] = {}
        for golden_set, nodeids in groups.items():
            suffixes = [f", {text}" for text in _differing([nodeid.split("::") for nodeid in nodeids], "::")]
            if len({nodeid.partition("[")[0] for nodeid in nodeids}) == 1:
                suffixes = [f" [{text}]" for text in parameters(nodeids)] if len(nodeids) > 1 else [""]
            found |= {nodeid: golden_set + suffix for nodeid, suffix in zip(nodeids, suffixes, strict=True)}
        return found

    def verdicts_in(self, state: str) -> list[tuple[ItemReport, VerdictReport]]:
        """Return the verdicts of a state, each with its item."""
        return [(item, gate) for item in self.items for gate in item.gates if gate.state == state]

    @property
    def losses_accepted(self) -> list[str]:
        """What stands first in every output: a sentence on each fall that this branch has stored, or whose limit it loosened."""
        names, accepted = self.names, self.verdicts_in("accepted")
        return [f"LOSS ACCEPTED: {names[item.nodeid]}: {gate.text}" for item, gate in accepted]

    @property
    def baseline_notes(self) -> Iterator[str]:
        """Say which baselines no test read, or are gone since a commit, and which losses a mark hides; count those not compared with."""
        gone, names = self.gone_since, self.names
        unused = [one for one in self.unused_baselines if one not in gone]
        if count := self.baselines_passed_over:
            were = plural(count, "stored baseline was", "stored baselines were")
            cure = "To compare: --ir-baseline, or `ir_baseline = true` among the settings."
            yield f"{were} not looked at, so no fall fails here. {cure}"
        if unused:
            one = len(unused) == 1
            lead = f"the {'baseline' if one else 'baselines'} {listed(unused, _NAMED)} {'was' if one else 'were'}"
            hidden = [i for i, outcome in self.outcomes.items() if outcome in HIDDEN and i not in names]
            modules = {PurePath(path).parent.name for path in unused}
            skipped = [i for i in hidden if PurePath(i.partition("::")[0]).stem in modules]
            known = f"Skipped, or failed as expected: {listed(skipped, _NAMED)}. Else a" if skipped else "A"
            yield f"{lead} read by no test. A loss there fails no run. {known} test may be deselected, not collected or taken out by a hook, or lack the fixture irmetrics. Delete {'it if its test is' if one else 'those whose test is'} gone."
        if gone:
            are = plural(len(gone), "baseline or its test is", "baselines or their tests are")
            yield f"{are} gone since the commit of --ir-since, so that no test is held to that: {listed(gone, _NAMED)}."
        judged = [one for one in self.items if one.since and one.since.refuses and one.since.state != "new"]
        lost = [i.nodeid for i in judged if self.outcomes.get(i.nodeid) in HIDDEN]
        if lost:
            yield f"`ir_accept = fail` refuses no loss of {listed(lost, _NAMED, names.__getitem__)}: skipped, or failed as expected."

    def fails(self, item: ItemReport) -> bool:
        """Whether an item counts as failed: a gate or the test failed, and no xfail mark expects that."""
        outcome = self.outcomes.get(item.nodeid)
        return outcome != "xfailed" and (item.outcome != "passed" or outcome == "failed")

    def headline(self) -> str:
        """Return one phrase on how many golden sets fail: `1 of 3 golden sets fails`."""
        items, unit = self.items, self.unit
        failed = sum(map(self.fails, items))
        failing = sum(item.outcome != "passed" for item in items)
        if not items:
            text = "nothing was measured"
        elif count := failed or failing:  # where none counts as failed, all are marked `xfail`
            text = f"{count} of {plural(len(items), unit)} {'fails' if count == 1 else 'fail'}"
            text += "" if failed else " as expected"
        elif any(item.only_queries for item in items):
            text = f"{plural(len(items), unit)}, no mean judged"
        else:
            text = plural(len(items), f"{unit} passes", f"{unit}s pass")
        for state in ("accepted", "undecided"):
            count = len({item.nodeid for item, _ in self.verdicts_in(state)})
            text += f", {count} {state}" if count else ""
        ungated = sum(map(_gates_nothing, items))
        text += f", {ungated} with nothing gated" if ungated and not failed else ""
        if self.unmeasured:
            text += f", {plural(len(self.unmeasured), 'test')} failed{' before anything was measured' if items else ''}"
        return text

    def ending(self) -> str:
        """Explain the exit status in a sentence; empty where the measured items explain it."""
        status = self.exit_status
        if status == 0 or (status == 1 and (self.unmeasured or any(map(self.fails, self.items)))):
            return ""
        return _ENDINGS.get(status, f"The command ended with exit status {status}.")

    def verdict(self, item: ItemReport) -> str:
        """Return the verdict on a golden set, as every output has it: `FAILS, 1 undecided`."""
        failed, outcome = item.outcome != "passed", self.outcomes.get(item.nodeid)
        states = [gate.state for gate in item.gates]
        text = "FAILS" if failed else "passes"
        if item.outcome == "error":  # retrieving every query is a gate of its own, and it failed
            failing = [query for query in item.queries if query.error is not None]
            asked = item.query_count + sum(query.is_xfail for query in failing)
            text += f", {len(failing):,} of {plural(asked, 'query')} not retrieved"
            text += f", {item.unasked:,} not asked" if item.unasked else ""
        elif item.only_queries and not failed:
            text = f"{'single queries pass, ' if 'passed' in states else ''}no mean judged"
        elif _gates_nothing(item):
            text += ", nothing gated"
        for state in ("accepted", "undecided"):
            text += f", {states.count(state)} {state}" if state in states else ""
        if failed and outcome == "xfailed":
            text += " as expected"
        elif outcome == "failed" and not failed:
            text += ", but the test fails"
        return text if item.selftest is None else f"baseline {text}"


def _gates_nothing(item: ItemReport) -> bool:
    """Whether nothing judges an item: it has no gate, or none that could be checked, and not because `--ir-query` left its means out."""
    return all(gate.state == "not checked" for gate in item.gates) and not item.only_queries


def what_was_measured(item: ItemReport) -> str:
    """Return what was measured: `40 queries, 10 results each, compared with the baseline (1a2b3c4d5 of 2026-03-01)`."""
    depth = "" if item.depth is None else f", {plural(item.depth, 'result')} each"
    version = f" ({item.baseline_version})" if item.baseline_version else ""
    return f"{query_count(item)}{depth}{f', compared with {item.against}{version}' if item.against else ''}"


def query_count(item: ItemReport) -> str:
    """Return how many queries count, and how many do not: `27 queries (and 1 xfail)`."""
    counted = plural(item.query_count, "query")
    return f"{counted} (and {item.xfail_count:,} xfail)" if item.xfail_count else counted


def gated_score(row: ScoreRow) -> str:
    """Return a metric with its mean, and what differs from it: the baseline's, the verdict by stored labels, the mean over all of today's queries."""
    beside = [signed_text(row.delta, row.allowed)] if row.delta and abs(row.delta) > TOLERANCE else []
    beside += ["fails as stored"] if " as stored" in row.gate else []
    beside += [f"{full} over all"] if (full := full_mean_text(row)) else []
    return f"{row.name} {mean_text(row)}" + (f" ({'; '.join(beside)})" if beside else "")


def full_mean_text(row: ScoreRow) -> str:
    """Return the mean over all of today's queries in full depth; empty where that is the mean which is compared."""
    if row.baseline is None or row.full is None or abs(row.full - (row.now or 0.0)) <= TOLERANCE:
        return ""
    return score_text(row.full, row.now, *row.bounds)


def mean_text(row: ScoreRow) -> str:
    """Return today's mean, with as many digits as tell it from the baseline's and from its limits."""
    is_latency = row.metric in FAMILIES and FAMILIES[row.metric].kind == "latency"
    return score_text(row.now, row.baseline, *row.bounds, digits=LATENCY_DIGITS if is_latency else 4)


def _severity(item: ItemReport) -> tuple[bool, float]:
    """Return by what failures are ordered: those without means first, then those of which a gated mean fell furthest."""
    fell = [row.delta for row in item.rows if row.fails and row.delta is not None]
    return item.outcome != "error", min(fell, default=0.0)


def parameters(nodeids: Sequence[str]) -> list[str]:
    """Return the parameter ids of tests without the parts at their ends that all of them have, such as the golden set's."""
    return _differing([nodeid.partition("[")[2].removesuffix("]").split("-") for nodeid in nodeids], "-")


def _differing(names: Sequence[list[str]], sign: str) -> list[str]:
    """Join the parts of names by a sign, without the parts at their ends that all of them have."""
    for end in (0, -1):
        while min(map(len, names)) > 1 and len({name[end] for name in names}) == 1:
            for name in names:
                name.pop(end)
    return [sign.join(name) for name in names]
