"""Print what `label` found to judge: as a table, as JSON, or as a CSV file for a spreadsheet."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_irmetrics.base.layout import table
from pytest_irmetrics.base.numbers import score_text
from pytest_irmetrics.base.wording import listed, plural
from pytest_irmetrics.cli import label_csv
from pytest_irmetrics.cli.command_line import CommandError
from pytest_irmetrics.cli.label_append import why_not_editable
from pytest_irmetrics.cli.standard_streams import STANDARD, print_about, write_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_irmetrics.analysis.labelling import Pool, Unjudged
    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.cli.corpus import Documents
    from pytest_irmetrics.golden import GoldenSet


def list_lines(
    top: Sequence[Unjudged],
    count: int,
    found: Pool,
    names: Sequence[str],
    queries: Sequence[str],
    documents: Documents,
    options: argparse.Namespace,
    screen: Screen,
) -> Iterator[str]:
    """Yield the lines of the list as a table, and how to judge the documents.

    `top` are those to show of `count`, `names` are those of the runs, and `queries` those that were asked for, if any.
    """
    what = (
        f"{plural(count, 'returned document')} of {listed(queries)}"
        if queries
        else f"{count:,} of the {plural(found.returned, 'returned document')}"
    )
    heading = f"{options.file}: {what} that {options.by} looks at {'is' if count == 1 else 'are'} not judged."
    if len(top) < count:
        first = "to judge first" if len(names) > 1 else "on which it hangs most"
        heading += f" The {len(top)} {first} (--limit {min(count, 5 * len(top))} shows more):"
    yield from screen.wrapped(heading)
    if not top:
        return
    several = len(names) > 1
    for number, name in enumerate(names, 1) if several else ():
        yield screen.cut(f"  rank {number}: in {name}")
    ranks = [f"rank {number}" for number in range(1, len(names) + 1)] if several else ["rank"]
    titles = [documents.title(one.doc_id) or "" for one in top]
    rows = [["influence", *ranks, "document", "title" if any(titles) else "", "query"]]
    for one, title in zip(top, titles, strict=True):
        text = one.query.text
        question = one.query.id if text is None or text == one.query.id else f"{one.query.id}: {text}"
        places = ["-" if rank is None else str(rank) for rank in one.ranks]
        rows.append([score_text(one.influence), *places, *map(screen.line, (one.doc_id, title, question))])
    aligned = ">" * (1 + len(ranks)) + "<<<"
    for line in table(rows, aligned, screen.width - 2, ascii_only=screen.ascii_only):
        yield f"  {line}"
    file = shlex.quote(options.file)
    yield from screen.wrapped(
        why_not_editable(options.file)
        or f"To judge them: `pytest-irmetrics label {file} -i` with a key each, --judge QUERY DOC GRADE, or --out LIST.csv and "
        "then --from LIST.csv in a spreadsheet.",
    )


def record(one: Unjudged, documents: Documents, golden: GoldenSet, file: str) -> dict[str, object]:
    """Return what there is to judge of one document, for ``--json``."""
    title, text = documents.title(one.doc_id), documents.texts.get(one.doc_id)
    found: dict[str, object] = {
        "id": one.query.id,
        "query": one.query.text,
        "docid": one.doc_id,
        "influence": one.influence,
        "ranks": one.ranks,
        "file": file,
        "line": golden.queries[one.query.id].line,
    }
    return found | {name: value for name, value in (("title", title), ("text", text)) if value is not None}


def write_csv(top: Sequence[Unjudged], documents: Documents, options: argparse.Namespace) -> None:
    """Write what there is to judge to the file that ``--out`` names, or to standard output. Raises CommandError."""
    path = Path(options.out)
    if options.out != STANDARD and path.suffix.lower() != ".csv":
        raise CommandError(f"{options.out}: The list is CSV. Give it a name that ends in .csv.")
    if options.out != STANDARD and os.path.lexists(path):
        raise CommandError(
            f"{options.out}: is there already, perhaps with ratings in it. Append those (--from), then delete it, or give "
            "another name."
        )
    write_file(options.out, label_csv.write(top, documents))
    back = f"pytest-irmetrics label {shlex.quote(options.file)} --from {shlex.quote(options.out)}"
    how = why_not_editable(options.file) or f"Fill in the column rating, and then: {back}"
    print_about(
        options.out, f"{options.out}: {plural(len(top), 'document')} to judge.{f' {how}' if top else ''}"
    )
