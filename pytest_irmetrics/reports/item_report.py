"""The report of one test item: what a worker sends to the controller, and what the JSON report holds of a test.

Its dataclasses hold plain JSON values only, under the names that the JSON report has; a new field needs a default, as reports that
were written before lack it. docs/reference/json-report.md lists them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from pytest_irmetrics.base.numbers import TOLERANCE
from pytest_irmetrics.thresholds import STATES, State

OWN_BASELINE = "the baseline"
"""What ``ItemReport.against`` is for the test's own baseline; any other run that is compared with has another name."""

FIXTURE_TO_PASTE = "@pytest.fixture"
"""The line with which a fixture begins in the details of a verdict: all of them then stand at the margin, to be pasted."""

WORST = 3
"""How many of the queries that explain a failure are shown; docs/reports.md and docs/reading-a-failure.md say it."""

ROW_VERDICTS = {
    state: {"failed": "FAILS", "passed": "passes"}.get(state, state)
    for state in (*(one for one in STATES if one != "not checked"), "not checked")
}
"""State of a verdict → what `ScoreRow.verdict` is; of several on one mean the first here counts, `not checked` last."""


def mean_name(metric: object, tag: str | None) -> str:
    """Return what a mean is called: `mrr`, or over the queries with a tag `mrr [billing]`."""
    return str(metric) if tag is None else f"{metric} [{tag}]"


def query_option(query_id: str) -> str:
    """Return the option that shows a query in full, quoted for a shell: `--ir-query refund`."""
    separator = "=" if query_id.startswith("-") else " "
    return f"--ir-query{separator}{shlex.quote(query_id)}"


@dataclass(eq=False, repr=False)
class ScoreRow:
    """One row of the score table: a metric over all queries of a golden set, or over those with one tag."""

    metric: str
    """The metric's name: ``ndcg@10``."""
    tag: str | None
    """The tag of the queries that the mean is over; None for all queries."""
    n: int
    """How many queries the mean is over; with a baseline, how many of them are paired."""
    full: float | None
    """The mean over all of today's queries."""
    now: float | None
    """The mean that is compared: over the paired queries where there is a baseline, else ``full``."""
    gate: str
    """The limits as they are printed, ``≥0.8 ✗drop≤0.01``, with a sign before what fails; empty where the metric is only reported."""
    verdict: str
    """``FAILS``, ``accepted``, ``undecided``, ``not checked``, ``passes``, or empty where nothing is gated."""
    baseline: float | None = None
    """The mean of the run that is compared with, over the paired queries; None without one."""
    delta: float | None = None
    """``now`` − ``baseline``."""
    interval: tuple[float, float] | None = None
    """The 95 % interval of ``delta``; None without a baseline, or with fewer than `MIN_CHANGED` changed queries.

    In the table by tag wide enough that all of its intervals hold together."""
    bounds: list[float] = field(default_factory=list)
    """The values of ``min`` and ``max``; ``now`` is printed with enough digits to differ from them where it does."""
    allowed: float | None = None
    """How far the mean may fall (``max_drop``), or must rise (``min_gain``), as an absolute number on the metric's scale."""
    unpaired: int = 0
    """How many queries are in ``full`` and not in ``now``."""
    changed: int | None = None
    """How many queries are worse or better; None without a baseline."""
    worse: int | None = None
    """How many of these are worse."""

    @property
    def name(self) -> str:
        """The metric, and the tag of a slice: `mrr [billing]`."""
        return mean_name(self.metric, self.tag)

    @property
    def fails(self) -> bool:
        """Whether a gate on it fails."""
        return self.verdict == ROW_VERDICTS["failed"]


@dataclass(eq=False, repr=False)
class QueryReport:
    """One query: its judgments, and its ranking and scores now and in the baseline."""

    query_id: str
    """The query's id, which is its text where it has no other."""
    text: str | None
    """What was searched for; None where the golden set has ids alone."""
    where: str
    """``file:line``."""
    judgments: dict[str, float]
    """Document id → grade."""
    forbidden: list[str]
    """The documents that must not come back."""
    now: list[str]
    """Today's ranking, best first."""
    before: list[str] | None
    """The baseline's ranking; None where the query has none to compare with."""
    scores: dict[str, float | None]
    """Metric → today's score."""
    scores_before: dict[str, float | None]
    """Metric → the baseline's score; empty where the query has none to compare with."""
    error: str | None = None
    """Why the retriever gave no ranking."""
    status: str = ""
    """``xfail: `` and its reason, ``no_answer``, ``unjudged``, ``judged as it was stored`` (a query that fails under the judgments stored with the
    baseline alone, and is shown under these), ``the worst of 3 answers``, or empty."""
    stages: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Stage of the search → judged document → its rank there, from 1; empty where the retriever tells of none."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Chunk or document of today's ranking that is not judged → its text, where it is known; for report files alone."""
    took: float | None = None
    """Milliseconds, the longest of its repeats; None unless a latency is reported."""
    explains: list[str] | None = None
    """The metrics by which it explains a failure, empty where no score does (an error, a forbidden document); None where it
    explains no failure."""

    def delta(self, metric: str | None) -> float | None:
        """Return how far its score moved (0 for up to 1e-9); None without two scores."""
        now, before = self.scores.get(metric or ""), self.scores_before.get(metric or "")
        if now is None or before is None:
            return None
        return 0.0 if abs(now - before) <= TOLERANCE else now - before

    @property
    def is_xfail(self) -> bool:
        """Whether it is marked ``xfail``, so that it is in no mean."""
        return self.status.startswith("xfail: ")

    @property
    def asks(self) -> str | None:
        """What was searched for, where the id does not say it."""
        return self.text if self.text != self.query_id else None


@dataclass(eq=False, repr=False)
class VerdictReport:
    """A verdict as it is reported: its text, and the ids of the queries that are shown of it."""

    state: State
    text: str
    """The sentence: the metric, its value, its limit, and the difference between the two."""
    word: str
    """The threshold's word (``min``, ``max_drop``, …), or a check that needs no threshold: ``errors`` (queries that could not be
    retrieved), ``empty`` (nothing came back for any query that has an answer), ``ids`` (no returned id is a known one), ``forbidden``, ``no_answer``, ``baseline`` (too few queries are in both runs,
    or none has a tag of it), ``accept`` (``ir_accept = fail``)."""
    metric: str | None
    """None where the gate is on no metric."""
    tag: str | None
    """The tag of the queries that are gated; None for all queries."""
    origin: str
    """Where the limit was set."""
    queries: list[str] = field(default_factory=list)
    """Ids of the queries that explain it, those that matter most first."""
    details: list[str] = field(default_factory=list)
    """Sentences that say more: how many queries moved, and what that shows."""
    single: bool = False
    """Whether it is a query's own threshold."""
    more: int = 0
    """How many queries explain it besides ``queries``."""
    as_stored: bool = False
    """Whether the drop shows only under the judgments stored with the baseline, or in the stored baseline, not in today's answers."""
    on_fall: bool = False
    """Whether it failed because a mean fell, and ``queries`` are those that are worse."""

    @property
    def explained_by(self) -> int:
        """How many queries explain it."""
        return len(self.queries) + self.more


@dataclass(eq=False, repr=False)
class Degradation:
    """One way in which ``--ir-selftest`` made the stored baseline worse, and which gates caught it."""

    name: str
    """A few words that are its name in tables."""
    what: str
    """What was done to the rankings, in a sentence."""
    caught_by: list[str]
    """``metric word [tag]`` of each gate that fails; empty where none does."""
    metric: str | None
    """The gated metric that fell most; where none fell, that of all; None where no mean was computed."""
    delta: float
    """Its mean, degraded − intact."""


SinceState = Literal["refused", "accepted", "changed", "new", "unchanged"]
"""What a branch accepts for a test: what ``ir_accept = fail`` does not allow (``refused``), a fall (``accepted``), what fails
nothing (``changed``), or nothing; ``new`` where there was no baseline of it."""


@dataclass(eq=False, repr=False)
class SinceReport:
    """What a branch accepts for one test, since the commit where it left another branch."""

    ref: str
    """As it was given: ``origin/main``."""
    commit: str
    """The id of the commit where HEAD left it."""
    state: SinceState
    file: str
    """The baseline's path in the repository."""
    renamed_from: str | None = None
    """Its path at that commit, where that was another."""
    details: list[str] = field(default_factory=list)
    """Sentences on what is undecided, which queries pay, each gated mean that moved, and each kind of edit."""
    holds_less: bool = False
    """Whether any limit holds less than it did."""
    refuses: bool = False
    """Whether what the branch accepts is to fail (``ir_accept = fail``)."""

    @property
    def where(self) -> str:
        """``origin/main (1a2b3c4d5)``, as messages name the commit."""
        short = self.commit[:9]
        return short if self.commit.startswith(self.ref) else f"{self.ref} ({short})"


NoteLevel = Literal["quiet", "normal", "verbose"]
"""In lower case the names of `Level` in reports/blocks.py."""


@dataclass(eq=False, repr=False)
class Note:
    """A sentence that a reader should know besides the verdict."""

    level: NoteLevel
    """From when on a terminal shows it: `quiet` is with ``-q`` too, `verbose` with ``-v``."""
    text: str


@dataclass(eq=False, repr=False, kw_only=True)
class ItemReport:
    """Everything that is printed, reported and stored of one test item."""

    nodeid: str
    """The test's id, as pytest has it."""
    golden_set: str
    """The golden set's path, relative to the directory that pytest was called in if it is below."""
    outcome: Literal["passed", "failed", "error"]
    """``passed``, ``failed``, or ``error`` (a query has no ranking, so no mean was computed)."""
    rows: list[ScoreRow]
    """The table of scores; empty where no mean was computed."""
    leading_metric: str | None
    """The metric by which queries are ordered and slices compared: that of the failed gate furthest beyond its limit, if any."""
    gates: list[VerdictReport]
    """The verdicts, failed ones first, of these the one that is furthest beyond its limit."""
    slices: list[ScoreRow]
    """One metric for each tag, compared with the baseline."""
    titles: dict[str, str] = field(default_factory=dict)
    """Document id → title, of the documents of ``queries`` that have one."""
    provenance: str = ""
    """In a failure: with what today's run was made that the other was not; empty where nothing differs or is known."""
    kind: str | None = None
    """What kind of change a failed regression gate is about, as a word that never changes; `docs/messages.md` lists them."""
    kind_sentences: list[str] = field(default_factory=list)
    """The same in sentences: what was seen, with its counts."""
    notes: list[Note]
    """What a reader should know besides the verdict."""
    unbound: list[str] = field(default_factory=list)
    """``metric [tag]`` of each limit in the settings whose tag no query of this golden set has."""
    against: str | None
    """What messages call the run that it was compared with."""
    baseline_version: str | None = None
    """The commit that stored the baseline, and its day, ``1a2b3c4d5 of 2026-03-01``; None where that is not known."""
    look: str | None = None
    """The command that shows single queries in full, up to the query's id."""
    judge: str | None = None
    """The command that lists the documents to judge before anybody decides on a fall; None where judgments would not decide it."""
    accept: str | None = None
    """The command that stores today's run as the baseline."""
    depth: int | None
    """How many results were asked for."""
    only_queries: bool = False
    """Whether ``--ir-query`` narrowed the run, so that no mean was gated."""
    since: SinceReport | None
    """With ``--ir-since``: what this branch accepts since it left another."""
    selftest: list[Degradation] | None
    """With ``--ir-selftest``: the degradations; all else is then about the stored baseline, intact."""
    query_count: int
    """How many queries count: all that were asked but the ``xfail`` ones."""
    xfail_count: int
    """How many were asked besides, which are marked ``xfail`` and in no mean."""
    unasked: int = 0
    """How many of all these were not asked after all, as all before them failed."""
    queries: list[QueryReport] = field(default_factory=list)
    """The queries that explain a failed gate; with ``-vv``, ``--ir-query`` or a report file, all of them.

    In the order of every output: those with an error, what explains the failure best, the largest falls, the lowest scores."""
    run: str | None = None
    """The run as JSON text, for report files."""
    baseline_text: str | None = None
    """The baseline to store, as JSON text; set in an updating run."""
    baseline_digest: str | None = None
    """The digest of the baseline's file as it was read, where it was."""

    @property
    def documents(self) -> Iterable[str]:
        """Ids of the documents that its queries show, each once."""
        shown = ((*query.now, *(query.before or ()), *query.judgments) for query in self.queries)
        return dict.fromkeys(doc_id for ids in shown for doc_id in ids)

    @property
    def gated_rows(self) -> list[ScoreRow]:
        """The rows that are gated, those that fail first, then that of the leading metric; all rows where none is."""
        rows, leads = [row for row in self.rows if row.gate] or self.rows, (self.leading_metric, None)
        return sorted(rows, key=lambda row: (not row.fails, (row.metric, row.tag) != leads))

    @property
    def failed_gates(self) -> list[VerdictReport]:
        """The verdicts that fail the test."""
        return [gate for gate in self.gates if gate.state == "failed"]

    @property
    def decisive_gates(self) -> list[VerdictReport]:
        """The failed gates; where none failed, those of which the fall is accepted."""
        return self.failed_gates or [gate for gate in self.gates if gate.state == "accepted"]

    @cached_property
    def explaining_gates(self) -> list[VerdictReport]:
        """The decisive gates that name queries; where a drop is among them, without those on `min` and `max` of a mean.

        What was low before the drop does not explain it.
        """
        naming = [gate for gate in self.decisive_gates if gate.queries]
        if any(gate.on_fall for gate in naming):
            return [gate for gate in naming if gate.single or gate.on_fall or gate.word not in ("min", "max")]
        return naming

    @property
    def worst(self) -> QueryReport | None:
        """The query that explains a failure best; None where none does."""
        return next((query for query in self.queries if query.explains is not None), None)

    @property
    def look_command(self) -> str | None:
        """The command that shows the worst query in full; None where there is none, or it is shown so."""
        if self.look is None or self.worst is None or self.only_queries:
            return None
        return f"{self.look} {query_option(self.worst.query_id)}"

    def dumps(self) -> str:
        """Return the report as ASCII JSON text, which any transport takes."""
        return json.dumps(self, default=as_json)

    @classmethod
    def loads(cls, text: str) -> ItemReport:
        """Read what ``dumps`` wrote."""
        return cls.of_json(json.loads(text))

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> ItemReport:
        """Build a report of JSON values. Raises TypeError for a key that is unknown or missing."""
        values = dict(data)
        for key, part in _PARTS.items():
            value = values.get(key)
            if isinstance(value, list):
                values[key] = [part(**one) for one in value]
            elif value is not None:
                values[key] = part(**value)
        return cls(**values)


_LEFT_OUT_EMPTY = ("provenance", "renamed_from", "stages", "texts", "unasked")


def as_json(part: Any) -> dict[str, Any]:
    """Return a dataclass as a dict for ``json.dumps(default=…)``; `asdict` would copy every ranking first."""
    values = {one.name: getattr(part, one.name) for one in fields(part)}
    return {name: value for name, value in values.items() if value or name not in _LEFT_OUT_EMPTY}


_PARTS: Mapping[str, type] = {
    one.name: part
    for one in fields(ItemReport)
    for part in (ScoreRow, VerdictReport, Note, SinceReport, Degradation, QueryReport)
    if part.__name__ in str(one.type)
}
"""The fields of an ItemReport that hold one of these dataclasses, or a list of them."""
