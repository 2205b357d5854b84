"""What a report is made of: a few kinds of blocks, which each output writes in its own way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import IntEnum
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from pytest_irmetrics.base.wording import cut
from pytest_irmetrics.reports.item_report import QueryReport, ScoreRow

_LONGEST_TITLE = 50
"""Characters of a title within a sentence."""

T = TypeVar("T")
Column: TypeAlias = tuple[str, str, Callable[[T], str]]


class Level(IntEnum):
    """A verbosity of pytest's, from which on a block is shown: `QUIET` with ``-q`` too, `VERBOSE` with ``-v`` and in a file that has room for it.

    `NoteLevel` has these names, in lower case.
    """

    QUIET = -1
    NORMAL = 0
    VERBOSE = 1
    ALL = 2


class Text(NamedTuple):
    """A sentence; an empty one parts what is above from what is below."""

    text: str
    tone: Literal["", "bad", "warn", "strong"] = ""
    """`_TONES` of terminal.py and `.marked` of report.css have the looks of each."""
    indent: int = 0
    level: Level = Level.NORMAL
    until: Level = Level.ALL
    """The last level that shows it, where the next one says more instead."""


class Table(NamedTuple):
    """Cells as they are printed, below their headings."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str
    """`<`, `>` or `_` for each column, as `table` of base/screen.py has it."""
    bad: Collection[int] = ()
    """The rows that stand out."""
    whole: Collection[str] | None = None
    """The headings of the columns that are not cut where a screen is narrow; None: the first one's."""
    drawn: Sequence[ScoreRow | None] = ()
    """The numbers of each row, for outputs that draw them; empty where there is nothing to draw."""
    level: Level = Level.NORMAL
    until: Level = Level.ALL

    @classmethod
    def of(cls, rows: Sequence[T], columns: Sequence[Column[T]], **more: Any) -> Table:
        """Return a table of things, given each column's heading, alignment and text of a thing; without columns of no text."""
        texts = [(head, side, [cell(row) for row in rows]) for head, side, cell in columns]
        kept = [(head, side, cells) for head, side, cells in texts if any(cells)]
        heads, sides = [head for head, *_ in kept], "".join(side for _, side, _ in kept)
        return cls(heads, [*zip(*(cells for *_, cells in kept), strict=True)], sides, **more)


DocumentKind = Literal["forbidden", "graded", "other", "unjudged"]


class RankedDocument(NamedTuple):
    """A document of a ranking, its judgment, and its ranks before and now.

    The templates of the HTML report compare `kind` and `move`, and report.css has a class of each kind.
    """

    doc_id: str
    title: str
    """Empty where none is known."""
    judgment: str
    """`forbidden`, `grade 3` or `unjudged`."""
    kind: DocumentKind
    """`graded` is above 0, `other` judged, and no more than 0."""
    before: int | None = None
    """Its rank in the baseline's ranking."""
    now: int | None = None
    """Its rank today."""
    move: str = ""
    """`was 5`, `new`, `now 4` or `gone`; empty where its rank is the same, or nothing is compared. Of a missing document
    where it still was, `rank 37 of candidates`."""

    @property
    def fell(self) -> bool:
        """Whether both rankings have it, and its rank is worse now."""
        return self.before is not None and self.now is not None and self.now > self.before

    @property
    def stands_out(self) -> bool:
        """Whether it is graded above 0 or forbidden."""
        return self.kind in ("graded", "forbidden")

    def __str__(self) -> str:
        """Return its id, with its title where it has one: `faq-12 "Refunds of annual plans"`."""
        return f'{self.doc_id} "{cut(self.title, _LONGEST_TITLE)}"' if self.title else self.doc_id


RankRow: TypeAlias = tuple[int, RankedDocument | None, RankedDocument | None]
"""A rank, and the documents that stood there before and stand there now."""


class Query(NamedTuple):
    """A query, its scores, and what became of its documents."""

    report: QueryReport
    facts: Sequence[str] = ()
    faults: Sequence[str] = ()
    """Sentences on what is wrong with its answer, whatever moved."""
    moved: Sequence[Sequence[str]] = ()
    """Sentences, each as a list of parts, the most important first: an output shows as many as it has room for."""
    ranks: Sequence[RankRow] = ()
    missing: Sequence[RankedDocument] = ()
    """Documents with a grade above 0 that are not among today's results."""
    in_full: bool = False
    """Whether a terminal shows its ranking at every level."""
    level: Level = Level.NORMAL
    until: Level = Level.ALL


class Commands(NamedTuple):
    """What to run next, each with what it is for."""

    commands: Sequence[tuple[str, str]]
    level: Level = Level.NORMAL
    until: Level = Level.ALL


Block: TypeAlias = Text | Table | Query | Commands
"""Written by `_block` of terminal.py and of formats/md.py, and by report_blocks.jinja, which tells them by their class's name."""


def is_shown_at(block: Block, level: Level) -> bool:
    """Whether a level shows a block."""
    return block.level <= level <= block.until
