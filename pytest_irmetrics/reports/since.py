"""What a branch accepts since the commit where it left another (``--ir-since``): as plain JSON values, and in sentences."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_irmetrics.base.numbers import change_text, signed_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.reports.item_report import as_json, read_dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.reports.item_report import ItemReport

_NAMED = 5
"""How many queries or edits a sentence names."""

LEADS = {"accepted": "ACCEPTED", "refused": "REFUSED", "unreadable": "UNKNOWN"}
"""Verdict → the word that a line on it begins with."""

_WHY = {
    "baseline": "this branch stores its baseline anew",
    "limits": "this branch loosened its limits",
}

_EDITS = {
    "dropped": ("query dropped", "queries dropped"),
    "excluded": ("query excluded (xfail)", "queries excluded (xfail)"),
    "renamed": ("query renamed, and so not compared", "queries renamed, and so not compared"),
    "reworded": ("query reworded (text, params or passages)", "queries reworded (text, params or passages)"),
    "included": ("query not excluded any more", "queries not excluded any more"),
    "added": ("query added", "queries added"),
    "judgment": ("judgment changed", "judgments changed"),
    "weight": ("weight changed", "weights changed"),
    "tags": ("query with other tags", "queries with other tags"),
    "no_answer": ("query with another no_answer", "queries with another no_answer"),
    "forbidden": ("forbidden document changed", "forbidden documents changed"),
    "relevance level": ("relevance level changed", "relevance levels changed"),
    "depth": ("depth changed", "depths changed"),
    "limit": ("limit differs", "limits differ"),
}
"""Kind of edit → what it is called, of one and of several."""


@dataclass(slots=True)
class AcceptedSince:
    """What fails against that commit, and passes today."""

    text: str
    """The sentence of the verdict: the metric, how far it fell, and what is allowed."""
    word: str
    """The word of the gate, as of a verdict."""
    metric: str | None
    """None where the verdict is on no metric."""
    tag: str | None
    """The tag of the queries that are gated; None for all queries."""
    why: str
    """Why it passes: ``baseline`` (today's stored one passes it) or ``limits`` (those stored with the baseline of then alone
    fail it)."""


@dataclass(slots=True)
class MeanSince:
    """A gated mean at that commit and now."""

    metric: str
    """The metric's name."""
    tag: str | None
    """The tag of the queries that it is over; None for all queries."""
    then: float
    """The mean over the queries of that commit's baseline, as they were judged."""
    now: float
    """Today's, over today's golden set."""
    parts: dict[str, float]
    """What makes up the difference: ``dropped``, ``judgments`` (weights and tags too), ``retriever``, ``excluded``, ``added``."""


@dataclass(slots=True)
class Edit:
    """An edit of what search is judged by."""

    kind: str
    """``dropped``, ``excluded``, ``renamed``, ``reworded``, ``included`` or ``added`` (a query); ``judgment``, ``weight``, ``tags``,
    ``no_answer``, ``forbidden``, ``relevance level``, ``depth`` or ``limit``."""
    what: str
    """What was edited: a query, a query and document, a limit."""
    before: str | None = None
    """None where there was none."""
    now: str | None = None
    """None where there is none."""
    weaker: bool = False
    """Whether it is a limit that holds less than it did, or is gone."""


@dataclass(slots=True)
class SinceReport:
    """What a branch accepts for one test, since the commit where it left another branch."""

    ref: str
    """As it was given: ``origin/main``."""
    commit: str
    """The id of the commit where HEAD left it."""
    state: str
    """``unchanged``, ``changed``, ``accepted``, ``new`` (there was no baseline of this test) or ``unreadable`` (there was,
    and it cannot be read)."""
    file: str
    """The baseline's path in the repository."""
    renamed_from: str | None = None
    """Its path at that commit, where that was another."""
    refused: bool = False
    """Whether ``ir_accept = fail`` makes it a failure."""
    why: str = ""
    """Why the baseline of that commit cannot be read, or what else of it could not be."""
    accepted: list[AcceptedSince] = field(default_factory=list)
    """What fails against that commit, and passes today."""
    undecided: list[str] = field(default_factory=list)
    """The sentences of the verdicts against that commit that are undecided, and are not so today."""
    pays: list[str] = field(default_factory=list)
    """Which queries pay, in a sentence for each mean that is accepted; where none is, for the first that moved."""
    means: list[MeanSince] = field(default_factory=list)
    """The gated means that moved."""
    edits: list[Edit] = field(default_factory=list)
    """What search is judged by, and is not as it was."""

    @classmethod
    def of(cls, item: ItemReport) -> SinceReport | None:
        """Return that of a test; None where it was not compared. Raises ValueError and TypeError for what is none."""
        return None if item.since is None else read_dataclass(cls, item.since)

    def as_dict(self) -> dict[str, Any]:
        """Return what ``of`` reads, for ``ItemReport.since``."""
        data: dict[str, Any] = json.loads(json.dumps(self, default=as_json))
        return data

    @property
    def where(self) -> str:
        """``origin/main (1a2b3c4d5)``, as messages name the commit."""
        short = self.commit[:9]
        return short if self.commit.startswith(self.ref) else f"{self.ref} ({short})"

    @property
    def verdict(self) -> str:
        """``accepted``, ``refused`` or ``unreadable``, which stand before all else and are warnings in CI; or empty."""
        told = self.state in ("accepted", "unreadable")
        return "" if not told else "refused" if self.refused else self.state

    @property
    def holds_less(self) -> bool:
        """Whether any limit of its gates holds less than it did."""
        return any(edit.weaker for edit in self.edits)


# Sentences


def headlines(since: SinceReport) -> list[str]:
    """Return a sentence on each verdict that is accepted, or on why nothing can be said; none where neither is so."""
    if since.state == "unreadable":
        verdict = "Not accepted, as ir_accept is `fail`" if since.refused else "What is accepted is unknown"
        return [f"{verdict}: the baseline of {since.where} cannot be read. {since.why}"]
    if since.refused:
        return [
            f"{one.text} {_WHY[one.why].capitalize()}, which `ir_accept = fail` does not allow."
            for one in since.accepted
        ]
    return [f"{one.text} It passes, because {_WHY[one.why]}." for one in since.accepted]


def cure(since: SinceReport) -> str:
    """Return how to accept what ``ir_accept = fail`` refuses, or else to mend it, in a sentence."""
    accept = "add `-o ir_accept=warn` to this command"
    if since.state == "unreadable":
        return f"To let it pass, {accept}."
    return f"To accept it, {accept}; else mend the search, and store its baseline again."


def details(since: SinceReport) -> list[str]:
    """Return a sentence on what is undecided, on the queries that pay, on each gated mean that moved, and on each kind of edit."""
    return [
        *(f"Its baseline was {path}." for path in [since.renamed_from] if path),
        *since.undecided,
        *since.pays,
        *_means(since),
        *edit_sentences(since.edits),
        *([f"Note: {since.why}"] if since.why and since.state != "unreadable" else []),
    ]


def one_line(since: SinceReport) -> str:
    """Return in a phrase how a test stands to that commit."""
    if since.state == "new":
        return f"new since {since.where}: there is no baseline of this test to compare with"
    return f"{since.verdict or since.state} since {since.where}"


def _means(since: SinceReport) -> Iterator[str]:
    accepted = {(one.metric, one.tag) for one in since.accepted}
    for mean in since.means:
        if [*mean.parts] != ["retriever"] or (
            mean.metric,
            mean.tag,
        ) not in accepted:  # else the headline said it
            parts = ", ".join(f"{part} {signed_text(delta)}" for part, delta in mean.parts.items())
            name = mean.metric if mean.tag is None else f"{mean.metric} [{mean.tag}]"
            yield f"{name} {change_text(mean.then, mean.now)}: {parts}."


def edit_sentences(edits: Sequence[Edit]) -> Iterator[str]:
    """Yield a sentence on each kind of edit, those that hold less first."""
    for kind, (one, many) in _EDITS.items():
        alike = sorted((edit for edit in edits if edit.kind == kind), key=lambda edit: not edit.weaker)
        if alike:
            yield f"{plural(len(alike), one, many)}: {listed(alike, _NAMED, _edit)}."


def _edit(edit: Edit) -> str:
    values = "" if edit.before == edit.now else f"{edit.before or 'none'} → {edit.now or 'none'}"
    return " ".join(filter(None, [edit.what, values, "(holds less)" if edit.weaker else ""]))


def gone(path: str, since: SinceReport) -> str:
    """Say that a baseline is gone, and its test with it."""
    return f"Gone since {since.where}: the baseline {path}. Its test is not gated any more."


def counted(items: Sequence[SinceReport]) -> str:
    """Return how many tests are in which state, and how many are held to less.

    `since origin/main (1a2b3c4d5): 1 accepted, 2 changed, 40 unchanged; 1 test has a limit that holds less`.
    """
    words = {
        "refused": "refused",
        "accepted": "accepted",
        "unreadable": "unreadable",
        "changed": "changed",
        "new": "new",
        "unchanged": "unchanged",
    }
    states = [one.verdict or one.state for one in items]
    counts = [f"{states.count(state):,} {word}" for state, word in words.items() if state in states]
    weaker = sum(one.holds_less for one in items)
    held = f"{plural(weaker, 'test has a limit', 'tests have limits')} that {'holds' if weaker == 1 else 'hold'} less"
    return f"since {items[0].where}: {', '.join(counts)}{f'; {held}' if weaker else ''}"
