"""The terminal summary at the end of a session: a line or a table for each golden set, then what was stored and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.escape import to_stream
from pytest_irmetrics.base.layout import display_width, shorten, table, table_rows
from pytest_irmetrics.base.numbers import TOLERANCE, signed_text
from pytest_irmetrics.base.screen import Line, Style
from pytest_irmetrics.base.wording import plural
from pytest_irmetrics.reports import texts
from pytest_irmetrics.reports.headings import headings
from pytest_irmetrics.reports.session_report import titles

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_irmetrics.base.screen import Screen
    from pytest_irmetrics.reports.headings import Heading
    from pytest_irmetrics.reports.item_report import Degradation, ItemReport
    from pytest_irmetrics.reports.session_report import SessionReport
    from pytest_irmetrics.reports.since_report import SinceReport

_SLICES = 30
"""How many slices the table by tag shows at most without `-vv`."""

_NARROWEST_NAME = 12
"""How many cells a golden set's name keeps on the narrowest screen."""

_SHORT_NAME = 16
"""How many cells it keeps where a score could stand beside it."""

_SHORTEST_PATH = 6
"""How many cells a golden set's path keeps beside the parameters of its test, where further scores could stand beside it."""

_TELLING_NAME = 32
"""How many cells it keeps where further scores could stand beside it."""

_WIDEST_DEGRADATION = 36
"""How many cells a degradation's name has at most."""

_CAUGHT_SLICES = 8
"""How many caught losses of a slice the self-test's table shows; where there are more, it shows none of them."""

_SINCE_DETAILS = 8
"""How many sentences on what changed since another commit a golden set has without `-v`."""

_VERDICTS = {"passed": "passes", "failed": "FAILS", "error": "FAILS"}


def summary_lines(session: SessionReport, screen: Screen, verbosity: int) -> Iterator[Line]:
    """Yield the summary: one line for each golden set, its tables with ``-v``, and what was stored.

    ``verbosity`` is pytest's. Below 0 all golden sets share one line, but what was asked for with an option, what a
    new baseline lowers, what is no longer gated and what could not be stored is printed all the same.
    """
    names = titles(session.items)
    yield from _accepted(session, names, screen, verbosity)
    if verbosity < 0:
        yield from _counts(session, screen)
        for item in session.items:
            yield from _even_if_quiet(session, item, names[item.nodeid], screen)
    else:
        shown = headings(session.items)
        for item in session.items:
            yield from _item(session, item, names[item.nodeid], shown[item.nodeid], screen, verbosity)
        if verbosity > 0:
            yield from _side_by_side(session, screen)
    for problem in session.problems:
        yield from _wrapped(f"error: {problem}", screen, Style.RED)
    if verbosity >= 0:
        for stored in sorted(session.stored):
            yield from _wrapped(f"baseline {stored}", screen)
        for path in session.written:
            yield from _wrapped(f"report {path}: written", screen)
    for path, told in session.unused_baseline_notes:
        yield from _wrapped(f"note: the baseline {path} {told}", screen, Style.YELLOW)
    for note in session.notes:
        yield from _wrapped(f"note: {note}", screen, Style.YELLOW)
    if session.gains:
        yield from _wrapped(f"note: {session.gains}", screen, Style.YELLOW)
        yield Line(screen.line(f"  To store it: {session.store}"))  # not wrapped, so that it can be copied


def _side_by_side(session: SessionReport, screen: Screen) -> Iterator[Line]:
    """Yield a table for each test and golden set that has several variants."""
    from pytest_irmetrics.reports.variants import mark, variant_tables  # noqa: PLC0415 - only with -v

    for variants in variant_tables(session.measured):
        yield Line(screen.cut(f"{variants.title}, side by side (* best)"))
        rows = [["metric", *(f"{label} " for label in variants.columns)]]
        rows += [[row.name, *mark(row, "*")] for row in variants.rows]
        cells = [[screen.line(cell) for cell in row] for row in rows]
        align = "<" + ">" * len(variants.columns)
        for line in table(cells, align, screen.width - 2, ascii_only=screen.ascii_only, whole=(0,)):
            yield Line(f"  {line}")


def _wrapped(text: str, screen: Screen, style: Style = Style.PLAIN, indent: str = "") -> list[Line]:
    return [Line(line, style) for line in screen.wrapped(text, indent, f"{indent}  ")]


def _accepted(
    session: SessionReport, names: Mapping[str, str], screen: Screen, verbosity: int
) -> Iterator[Line]:
    """Yield what this branch accepts since it left another, and how many tests were compared; nothing without ``--ir-since``."""
    if not session.compared_since:
        return
    from pytest_irmetrics.reports import since_texts  # noqa: PLC0415 - only with --ir-since

    found = session.since
    for nodeid, since in found.items():
        for headline in since_texts.headlines(since):
            lead = since_texts.LEADS[since.verdict]
            yield from _wrapped(f"{lead}: {names[nodeid]}: {headline}", screen, Style.BOLD_YELLOW)
        if since.is_told_first:
            yield from _since_details(since, screen, verbosity)
    style = Style.YELLOW if any(since.holds_less for since in found.values()) else Style.PLAIN
    yield from _wrapped(since_texts.counted(list(found.values())), screen, style)
    for path in session.gone_since:
        yield from _wrapped(since_texts.gone(path, next(iter(found.values()))), screen, Style.YELLOW)


def _since_details(since: SinceReport, screen: Screen, verbosity: int) -> Iterator[Line]:
    from pytest_irmetrics.reports import since_texts  # noqa: PLC0415 - as above

    sentences = since_texts.details(since)
    shown = sentences if verbosity >= 1 else sentences[:_SINCE_DETAILS]
    for sentence in shown:
        yield from _wrapped(sentence, screen, indent="  ")
    if len(shown) < len(sentences):
        yield Line(screen.cut(f"  {plural(len(sentences) - len(shown), 'line')} more with -v."))


def _changed_since(item: ItemReport, name: str, screen: Screen, verbosity: int) -> Iterator[Line]:
    """Yield what changed since this branch left another, of a test that accepts nothing."""
    if item.since is None:
        return
    from pytest_irmetrics.reports import since_texts  # noqa: PLC0415 - as above
    from pytest_irmetrics.reports.since_report import SinceReport  # noqa: PLC0415 - as above

    since = SinceReport.of(item)
    if since is None or since.is_told_first or (since.state == "unchanged" and verbosity < 1):
        return
    style = Style.YELLOW if since.state == "new" else Style.PLAIN
    lead = f"{name}: " if verbosity < 0 else ""
    yield from _wrapped(f"{lead}{since_texts.one_line(since)}", screen, style, "" if lead else "  ")
    yield from (
        _since_details(since, _inner(screen), verbosity)
        if lead
        else _indented(_since_details(since, _inner(screen), verbosity))
    )


def _failed(item: ItemReport) -> bool:
    return item.outcome not in ("passed", "skipped")


def _counts(session: SessionReport, screen: Screen) -> Iterator[Line]:
    """Sum all golden sets up in one line."""
    items = session.items
    if not items:
        return
    failed = sum(_failed(item) and not session.is_expected_failure(item) for item in items)
    skipped = sum(item.outcome == "skipped" for item in items)
    counts = [f"{count} {word}" for count, word in ((failed, "failed"), (skipped, "skipped")) if count]
    sets = len({item.golden_set for item in items})
    counted = plural(sets, "golden set") + (f", {len(items)} tests" if sets < len(items) else "")
    passed = "no mean judged" if any(item.only_queries for item in items) else "all pass"
    text = f"retrieval quality: {counted}, {', '.join(counts) or passed}"
    yield Line(screen.cut(text), Style.RED if failed else Style.YELLOW if skipped else Style.GREEN)
    tried = [degradation for item in items for degradation in item.selftest or ()]
    if tried:
        caught = sum(bool(degradation.caught_by) for degradation in tried)
        yield Line(screen.cut(f"self-test: caught {caught} of {len(tried)}"))


def _even_if_quiet(session: SessionReport, item: ItemReport, name: str, screen: Screen) -> Iterator[Line]:
    """Yield what `-q` shows of a golden set too: what no gate looked at, lowered scores, and the queries of `--ir-query`."""
    for note in item.quiet_notes if not (_failed(item) and session.failures_printed) else ():
        yield from _wrapped(f"{name}: {note}", screen, Style.YELLOW)
    for lowered in item.lowered:
        yield Line(screen.cut(f"{name}: lowered: {lowered}"), Style.YELLOW)
    yield from _changed_since(item, name, screen, -1)
    if item.only_queries:
        yield from _wrapped(texts.ONLY_QUERIES, screen, indent="  ")
        yield from _indented(_queries_in_full(item, _inner(screen)))


def _item(
    session: SessionReport, item: ItemReport, name: str, heading: Heading, screen: Screen, verbosity: int
) -> Iterator[Line]:
    """Report one golden set."""
    failed = _failed(item)
    expected = failed and session.is_expected_failure(item)
    style = Style.BOLD_RED if failed and not expected else Style.BOLD_GREEN
    yield Line(one_line(item, heading, screen, expected=expected), style)
    inner = _inner(screen)
    verbose = verbosity >= 1
    if verbose:
        yield from _indented(_tables(item, inner, everything=verbosity >= 2))
    for hint in item.hints if verbose else ():
        yield from _wrapped(f"hint: {hint}", screen, indent="  ")
    if item.only_queries:
        yield from _wrapped(texts.ONLY_QUERIES, screen, indent="  ")
    yield from _changed_since(item, name, screen, verbosity)
    for gate in item.gates if not failed else ():
        if gate.state == "not checked":
            yield from _wrapped(gate.text, screen, Style.YELLOW, "  ")
    # A failure's message has the notes too.
    for note in item.notes if not (failed and session.failures_printed) else ():
        yield from _wrapped(f"note: {note}", screen, Style.YELLOW, "  ")
    if item.selftest is not None:
        yield from _indented(selftest_lines(item, inner, everything=verbose))
    for lowered in item.lowered:
        yield Line(screen.cut(f"  lowered: {lowered}"), Style.YELLOW)
    if verbosity >= 2 or item.only_queries:
        yield from _indented(_queries_in_full(item, inner))


def _inner(screen: Screen) -> Screen:
    """Return a screen as wide as what is left beside the indentation."""
    return screen._replace(width=screen.width - 2)


def _indented(lines: Iterator[Line]) -> Iterator[Line]:
    return (line.indented() for line in lines)


def _queries_in_full(item: ItemReport, screen: Screen) -> Iterator[Line]:
    from pytest_irmetrics.reports.failure import query_in_full  # noqa: PLC0415 - a green run does without it

    for query in item.queries:
        yield from map(Line, query_in_full(query, screen, item.titles))
        if query.error is None:
            yield Line("")


def _tables(item: ItemReport, screen: Screen, *, everything: bool) -> Iterator[Line]:
    if item.rows:
        yield from score_table(item, screen)
    if item.slices:
        yield Line("")
        yield from slices_table(item, screen, everything=everything)


def one_line(item: ItemReport, name: Heading, screen: Screen, *, expected: bool) -> str:
    """Return a golden set in one line: its name, shortened where that takes, verdict, and as many gated scores as fit.

    ``expected``: the test is marked xfail, so that pytest counts no failure.
    """
    if item.outcome == "skipped":
        return _name_and_verdict(name, "skipped, nothing was evaluated", screen)
    if item.outcome == "not evaluated":
        return _name_and_verdict(name, "FAILS, nothing was evaluated", screen)
    ungated = "" if any(row.gate for row in item.rows) or item.only_queries else "nothing gated; "
    size = texts.query_count(item)
    if item.outcome == "error":  # retrieving every query is a gate of its own, and it failed
        ungated, size = "", f"{_not_retrieved(item):,} of {size} not retrieved"
    if item.only_queries:
        from pytest_irmetrics.reports.query_details import count_worse  # noqa: PLC0415 - as below, only where queries are shown

        worse = count_worse(item)
        size = f"{worse:,} of {size} worse" if worse else size
    subject = "" if item.selftest is None else "baseline "
    single = item.only_queries and item.outcome == "passed"
    state = texts.single_queries(item) if single else _VERDICTS[item.outcome]
    verdict = f"{subject}{state}{' as expected' if expected else ''}, {ungated}{size}"
    name_width, narrowest = display_width(screen.line(f"{name.golden_set}{name.tail}")), _SHORT_NAME
    rows = texts.gated_rows(item)
    compared = "" if item.only_queries else texts.compared_count(item)
    if compared:
        with_score = f"{verdict}{compared}; {screen.line(texts.gated_score(rows[0]))}"
        verdict += compared if _fits(with_score, name_width, narrowest, screen) else ""
    for row in rows:
        longer = f"{verdict}{';' if narrowest == _SHORT_NAME else ','} {screen.line(texts.gated_score(row))}"
        if not _fits(longer, name_width, narrowest, screen):
            break  # a number is never cut: it would be another one
        # The name gives way to the first score, and to further ones as long as it can still be told from others.
        verdict, narrowest = (
            longer,
            max(_TELLING_NAME, display_width(screen.line(name.tail)) + _SHORTEST_PATH),
        )
    return _name_and_verdict(name, verdict, screen)


def _fits(verdict: str, name_width: int, narrowest: int, screen: Screen) -> bool:
    """Say whether a verdict fits beside a name of this width, or as much of it as is kept."""
    return display_width(verdict) + 2 + min(name_width, narrowest) <= screen.width


def _not_retrieved(item: ItemReport) -> int:
    """Return how many queries have no ranking."""
    return sum(len(gate.queries) + gate.more for gate in item.gates if gate.word == "errors")


def _name_and_verdict(name: Heading, verdict: str, screen: Screen) -> str:
    """Return a golden set's name and verdict; a long name is cut."""
    width = max(screen.width - display_width(verdict) - 2, _NARROWEST_NAME)
    return screen.cut(f"{name.fit(width, screen)}: {verdict}")


def score_table(item: ItemReport, screen: Screen) -> Iterator[Line]:
    """Yield the table of a golden set's scores: now, baseline, delta, gate and verdict."""
    compared = texts.is_compared(item)
    header = [
        "metric",
        "n",
        "now",
        *([texts.compared_with(item), "delta"] if compared else []),
        "gate",
        "verdict",
    ]
    cells = [header]
    for row in item.rows:
        before = [texts.baseline_text(row), texts.delta_text(row)] if compared else []
        cells.append(
            [
                screen.line(texts.row_name(row)),
                str(row.n),
                texts.now_text(row),
                *before,
                row.gate,
                row.verdict,
            ]
        )
    align = "<>>" + (">>" if compared else "") + "<<"
    styles = [Style.PLAIN, *(Style.RED if row.verdict == "FAILS" else Style.PLAIN for row in item.rows)]
    yield from _table(cells, align, styles, screen, whole=(0, len(align) - 1))
    for sentence in texts.table_notes(item):
        yield from map(Line, screen.wrapped(sentence))


def slices_table(item: ItemReport, screen: Screen, *, everything: bool = True) -> Iterator[Line]:
    """Yield the table of one metric by tag; without ``everything`` only the slices that cost most."""
    if not item.slices:
        return
    shown = item.slices if everything else texts.costliest_slices(item, _SLICES)
    header = [
        *(
            f"{item.slices[0].metric} by tag",
            "n",
            "now",
            texts.compared_with(item),
            "delta",
            texts.JOINT_INTERVAL,
            "",
        )
    ]
    cells = [header]
    for row in shown:
        scores = [texts.now_text(row), texts.baseline_text(row), texts.delta_text(row)]
        cells.append(
            [
                screen.line(row.tag or ""),
                str(row.n),
                *scores,
                texts.interval_text(row),
                texts.slice_trend(row),
            ]
        )
    styles = [Style.PLAIN, *(Style.RED if texts.slice_trend(row) == "fell" else Style.PLAIN for row in shown)]
    if shown:
        yield from _table(cells, "<>>>>><", styles, screen)
    left_out = texts.slices_left_out(item, shown)
    if left_out:
        yield from map(Line, screen.wrapped(f"{left_out} (-vv shows all)", hanging="  "))


def _table(
    cells: Sequence[Sequence[str]],
    align: str,
    styles: Sequence[Style],
    screen: Screen,
    whole: Collection[int] = (),
) -> Iterator[Line]:
    """Lay out a table with a style for each row; of a row broken in several lines the last one, with the verdict, has it."""
    encoded = [[to_stream(cell, screen.encoding) for cell in row] for row in cells]
    rows = table_rows(encoded, align, screen.width, ascii_only=screen.ascii_only, whole=whole)
    for lines, style in zip(rows, styles, strict=True):
        yield from map(Line, lines[:-1])
        yield Line(lines[-1], style)


def selftest_lines(item: ItemReport, screen: Screen, *, everything: bool) -> Iterator[Line]:
    """Yield a line for each degradation (with ``everything`` a paragraph), how many were caught, and advice."""
    tried = item.selftest or []
    if everything:
        for degradation in tried:
            yield from _paragraph(degradation, screen)
    elif tried:
        shown = _without_caught_slices(tried)
        yield from _degradations_table(shown, screen)
        hidden = len(tried) - len(shown)
        if hidden:
            yield Line(
                screen.cut(f"{plural(hidden, 'more loss', 'more losses')} of slices: caught (-v shows them)")
            )
    for sentence in (texts.selftest_conclusion(tried), *item.advice):
        yield from map(Line, screen.wrapped(sentence, hanging="  "))


def _without_caught_slices(tried: Sequence[Degradation]) -> Sequence[Degradation]:
    """Leave out the degradations of one tag that a gate catches, if there are many."""
    slices = [degradation for degradation in tried if degradation.tag is not None and degradation.caught_by]
    if len(slices) <= _CAUGHT_SLICES:
        return tried
    return [degradation for degradation in tried if degradation not in slices]


def _style(degradation: Degradation) -> Style:
    return Style.PLAIN if degradation.caught_by else Style.YELLOW


def _degradations_table(tried: Sequence[Degradation], screen: Screen) -> Iterator[Line]:
    names = [
        shorten(screen.line(degradation.name), _WIDEST_DEGRADATION, ascii_only=screen.ascii_only, middle=True)
        for degradation in tried
    ]
    metrics = [_most_telling_metric(degradation) for degradation in tried]
    moved = [
        "no metric moves"
        if metric is None
        else screen.line(f"{metric} {signed_text(degradation.deltas[metric], digits=3)}")
        for metric, degradation in zip(metrics, tried, strict=True)
    ]

    def verdicts(width: int) -> list[str]:
        pairs = zip(tried, metrics, strict=True)
        return [_caught_within(degradation, metric, screen, width) for degradation, metric in pairs]

    width = screen.width - _widest(names) - _widest(moved) - 4
    if width < _widest(verdicts(0)):
        width = screen.width - 2  # the verdicts stand on a second line of each row
    cells = [list(row) for row in zip(names, moved, verdicts(width), strict=True)]
    yield from _table(cells, "<<<", list(map(_style, tried)), screen, whole=(0, 1, 2))


def _widest(texts: Sequence[str]) -> int:
    return max(map(display_width, texts), default=0)


def _most_telling_metric(degradation: Degradation) -> str | None:
    """Choose the gated metric that fell most; where none fell, the metric without a gate that did."""
    fell = {name: delta for name, delta in degradation.deltas.items() if delta < -TOLERANCE}
    gated = [name for name in degradation.gated if name in fell]
    return min(gated or fell, key=lambda name: fell[name], default=None)


def _caught_within(degradation: Degradation, metric: str | None, screen: Screen, width: int) -> str:
    """Name as many of the gates that catch it as fit, those on ``metric`` first, or else count them."""
    if not degradation.caught_by:
        return texts.caught_text(degradation)
    labels = [screen.line(label) for label in degradation.caught_by]
    labels.sort(key=lambda label: not label.startswith(f"{metric} "))
    for named in range(len(labels), 0, -1):
        rest = len(labels) - named
        text = f"caught by {', '.join(labels[:named])}{f' +{rest}' if rest else ''}"
        if display_width(text) <= width:
            return text
    return f"caught by {labels[0]}" if len(labels) == 1 else f"caught by {len(labels)} gates"


def _paragraph(degradation: Degradation, screen: Screen) -> Iterator[Line]:
    *heading, last = screen.wrapped(f"{degradation.name}: {texts.caught_text(degradation)}", hanging="  ")
    yield from map(Line, heading)
    yield Line(last, _style(degradation))
    yield from map(Line, screen.wrapped(degradation.what, "  "))
    yield from map(Line, screen.wrapped(texts.deltas_text(degradation), "  "))
