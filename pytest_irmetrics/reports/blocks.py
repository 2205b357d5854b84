"""What a report is made of: a few kinds of blocks, which each output writes in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_irmetrics.reports.query_details import RankedDocument


class Level(IntEnum):
    """A verbosity of pytest's: from `VERBOSE` on, `-v` shows a block, and a file that has room for it."""

    NORMAL = 0
    VERBOSE = 1
    ALL = 2


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence."""

    text: str
    tone: str = ""
    """`bad`, `warn` or `strong`."""
    level: Level = Level.NORMAL
    until: Level = Level.ALL
    """The last level that shows it, where the next one says more instead."""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as they are printed, below their headings."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str
    """`<` or `>` for each column."""
    bad: Collection[int] = ()
    """The rows that stand out."""
    whole: Collection[int] = (0,)
    """The columns that are not cut where a screen is narrow."""
    optional: Sequence[Collection[int]] = ()
    """Columns that a narrow screen leaves out, in this order."""
    level: Level = Level.VERBOSE
    until: Level = Level.ALL


@dataclass(frozen=True, slots=True)
class Query:
    """A query, its scores, and what became of its documents."""

    where: str
    query_id: str
    asks: str
    """What was searched for, where the id does not say it."""
    status: str
    facts: Sequence[str]
    moved: Sequence[Sequence[str]]
    """Sentences of parts, of which a line has as many as it holds."""
    ranks: Sequence[tuple[int, RankedDocument | None, RankedDocument | None]] = ()
    """For each rank the document before and the one now."""
    missing: Sequence[RankedDocument] = ()
    """Relevant documents that are not among today's results."""
    compared: bool = False
    in_full: bool = False
    """Whether a terminal shows its ranking too."""
    level: Level = Level.NORMAL
    until: Level = Level.ALL


@dataclass(frozen=True, slots=True)
class Commands:
    """What to run next, each with what it is for."""

    commands: Sequence[tuple[str, str]]
    level: Level = Level.NORMAL
    until: Level = Level.ALL


Block = Text | Table | Query | Commands
