"""The notes of a report, which tell what a test's run, or its comparison, shows besides the verdicts.

A note is a function that yields its sentences, none where there is nothing to say, and a row in `_NOTES` or, where two
runs are compared, in `_COMPARED`, which say in which order and from which verbosity on. At the end, the notes on a baseline that is replaced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from math import inf

from pytest_irmetrics.analysis.item_result import ItemResult
from pytest_irmetrics.base.numbers import TOLERANCE, change_text, score_text, signed_text
from pytest_irmetrics.base.wording import FEW, describe, listed, plural
from pytest_irmetrics.comparison import Comparison
from pytest_irmetrics.evaluation import Evaluation
from pytest_irmetrics.gates.decide import would_pass
from pytest_irmetrics.gates.regression import noise_text
from pytest_irmetrics.gates.stored_limits import EditKind
from pytest_irmetrics.golden.query import documents_of, folded, known_ids
from pytest_irmetrics.reports.item_report import Note, NoteLevel, mean_name
from pytest_irmetrics.run import Run
from pytest_irmetrics.run.answer import is_further_chunk
from pytest_irmetrics.thresholds import AUTO, MIN_TAGGED

_About = Callable[..., Iterator[str]]
"""What a note says, if anything, of an ItemResult; of two runs, of their Comparison and the ItemResult."""

_ON_CUT = "The border of a chunk cuts it: let chunks overlap by as much, or judge a shorter text."
_ON_HALF = "Beside that part the chunk has other words: a heading where a border cuts it, or the golden set has a typo, or the document was edited."
_ON_CASE = "Case counts: return chunks as the corpus has them, or judge the text that comes back."
_ON_MISSED = "The ranking missed it, or the corpus words it otherwise, or cuts it into small pieces."

_NAMED = 3
"""How many passages a note names, each with its place and the first words of its text."""

_MANY_CHUNKS = 0.1
"""From which share of the results on further chunks of a document are said."""

_ON_COLLAPSED = "ir_duplicates = collapse drops what comes twice: set a larger ir_depth, or let the search return each document once."


def notes_on(result: ItemResult, *, verbose: bool = False) -> Iterator[Note]:
    """Yield the notes on a result; none where a query has no answer, and of those for `-v` only with ``verbose``."""
    if result.evaluation.errors:
        return
    notes = [(level, about(result)) for level, about in _NOTES]
    if result.comparison is not None:
        notes += [(level, about(result.comparison, result)) for level, about in _COMPARED]
    for level, texts in notes:
        if verbose or level != "verbose":
            yield from (Note(level, text) for text in texts)


# Today's run, also where another one stands beside it


def _left_out(result: ItemResult) -> Iterator[str]:
    """Name the queries without any judgment."""
    if left_out := result.evaluation.golden.left_out:
        yield f"Left out, because without any judgment: {listed(left_out)}."


def _unjudged(result: ItemResult) -> Iterator[str]:
    """Say how many queries nobody has judged."""
    if unjudged := [query for query in result.evaluation.counted if query.is_unjudged]:
        of = plural(len(result.evaluation.counted), "query")
        how = " To judge what comes back: pytest --ir-report=json:run.json, then pytest-irmetrics label FILE --run run.json -i."
        hint = how if result.failed and result.comparison is None else ""
        yield f"Nobody has judged {len(unjudged):,} of {of}: only overlap looks at these.{hint}"


def _small_tags(result: ItemResult) -> Iterator[str]:
    """Name the tags that a limit on each tag leaves out."""
    if small := result.gates.too_small:
        carried = Counter(chain.from_iterable(query.tags for query in result.evaluation.counted))
        counts = listed(small, word=lambda tag: f"{tag} ({carried[tag]})")
        yield f"The limit on each tag leaves out those that fewer than {MIN_TAGGED} queries carry: {counts}."


def _would_pass(result: ItemResult) -> Iterator[str]:
    """Name the queries marked ``xfail`` that would pass, and are no worse than they were."""
    comparison, metric, passing = result.comparison, result.leading_metric, []
    for query in result.evaluation.known_bad:
        now = before = 0.0
        if comparison is not None and metric is not None and comparison.has(query.id):
            sides = comparison.now, comparison.baseline
            now, before = (side.score(metric, query.id) or 0.0 for side in sides)
        if now >= before - TOLERANCE and would_pass(result.evaluation, query, result.gates):
            passing.append(f"{query.id} ({query.xfail})")
    if passing:
        marked = plural(len(passing), "query marked xfail", "queries marked xfail")
        yield f"{marked} would pass the gates on single queries: {listed(passing)}. Without the mark they count in the means."


def _nothing_relevant(result: ItemResult) -> Iterator[str]:
    """Say that a run passes in which nothing relevant came back; of one that fails, for how many queries nothing judged did.

    The latter with ids of both sides, where there is no other run to compare with, and no verdict is about ids.
    """
    evaluation, rankings = result.evaluation, result.evaluation.rankings
    judged = [query for query in evaluation.counted if query.judgments]
    # One query at a time: the ids of 100,000 answers of 100 take 0.7 GB.
    if not result.failed:
        relevant = evaluation.golden.relevant
        if judged and all(relevant(one).isdisjoint(chain(*rankings(one.id))) for one in judged):
            yield "Nothing relevant came back."
    elif result.comparison is None and not any(verdict.word == "ids" for verdict in result.verdicts):
        came = ((one, documents_of(one, chain(*rankings(one.id)))) for one in judged)
        missed = [one for one, documents in came if {*one.documents}.isdisjoint(documents)]
        first = next((one for one in missed if evaluation.has_results(one.id)), None)
        if first is not None and 2 * len(missed) > len(judged):
            wanted, got = listed([*first.documents], _NAMED), listed([*chain(*rankings(first.id))], _NAMED)
            said = f"Nothing judged came back for {len(missed):,} of {plural(len(judged), 'query')}"
            yield f"{said}. For {first.id} came {got}, and judged are {wanted}: compare the ids."


def _came_back_empty(result: ItemResult) -> Iterator[str]:
    """Name the queries that came back empty, but for those that did in the other run, where there is one.

    Not where a failure says that next to nothing comes back, nor of single queries (``--ir-query``), which are shown, nor those
    that a stored run says nothing of.
    """
    comparison, failed = result.comparison, [verdict for verdict in result.verdicts if verdict.failed]
    if result.evaluation.only is not None or any(verdict.word == "empty" for verdict in failed):
        return
    now = result.evaluation
    asked = (query.id for query in now.counted if not query.no_answer)
    empty = [i for i in asked if not now.has_results(i) and i not in now.retrieved.missing]
    if comparison is not None:
        empty = [i for i in empty if not comparison.has(i) or comparison.baseline.has_results(i)]
    if comparison is not None and empty and any(verdict.holds_to_baseline for verdict in failed):
        from pytest_irmetrics.analysis.signs import find_sign  # noqa: PLC0415 - needed after a failure alone

        if find_sign(comparison).kind == "nothing_returned":
            return
    if empty:
        is_new = comparison is None or any(query_id not in comparison.baseline.run for query_id in empty)
        since = "" if is_new else f", and did not in {result.against.name}"
        yield f"{plural(len(empty), 'query')} came back empty{since}: {listed(empty)}."


def _queries_left_out(result: ItemResult) -> Iterator[str]:
    """Count the queries that are in no gated mean, because its metric leaves out what finds nothing."""
    evaluation, comparison = result.evaluation, result.comparison
    by_loss = {(gate.metric, gate.tag) for gate in result.gates if gate.word == "max_lost"}
    ranking = (gate for gate in result.gates if gate.metric.kind == "ranking")
    for metric, tag in dict.fromkeys((gate.metric, gate.tag) for gate in ranking):
        column = evaluation.column(metric, tag)
        if count := column.count(None):
            before = comparison.change(metric, tag).left_out if comparison else ()
            is_ungated = before and (metric, tag) not in by_loss
            also = f" It counted {listed(before)} before; max_lost gates that." if is_ungated else ""
            yield f"{mean_name(metric, tag)} leaves out what finds nothing: {count} of {plural(len(column), 'query')} {'is' if count == 1 else 'are'} in no mean.{also}"


def _answers_cut_short(result: ItemResult) -> Iterator[str]:
    """Say that the retriever seems to have a depth of its own: most answers end at one length, short of what was asked for.

    Not of single queries (``--ir-query``), nor where one answer holds every document that came back: there may be no others.
    """
    evaluation = result.evaluation
    depth = evaluation.depth
    if depth is None or evaluation.only is not None:
        return
    retrieved = evaluation.retrieved
    answers: list[Sequence[str]] = []
    returned: list[int] = []
    for query in evaluation.counted:
        rankings = evaluation.rankings(query.id)
        if any(len(ranking) >= depth for ranking in rankings):  # as nearly always, at the first query
            return
        answers += filter(None, rankings)
        returned += [retrieved.returned.get(query.id, len(ranking)) for ranking in rankings if ranking]
    # After, and before, duplicates were dropped.
    longest, longest_came = max(map(len, answers), default=0), max(returned, default=0)
    if 2 * returned.count(longest_came) < len(answers) or longest == len(set().union(*answers)):
        return
    if longest_came == depth:
        cutoff = max((metric.cutoff or 0 for metric in evaluation.metrics), default=0)
        short = sum(len(ranking) < cutoff for ranking in answers)
        if not short:
            return
        of = plural(len(answers), "answer")
        advice = f"{short:,} of {of} had fewer than the {cutoff} that a metric looks at. {_ON_COLLAPSED}"
    else:
        longest, advice = longest_came, "That is all that the stored run holds."
        if retrieved.latencies:  # which no stored run has
            advice = retrieved.depth_advice or "Check that the retriever passes k on."
    yield f"No query got the {depth} results that were asked for; the longest answer has {longest}. {advice}"


def _ids_in_other_letters(result: ItemResult) -> Iterator[str]:
    """Name judged and forbidden documents whose ids came back in another case or Unicode form: scores and checks take these for other documents.

    Not where a verdict is about ids. Beside a baseline of the same golden set of forbidden ones alone: the others were named when
    it was stored, and what the search spells otherwise since is a sign.
    """
    found, evaluation, comparison = [], result.evaluation, result.comparison
    is_said = comparison is not None and not comparison.is_edited
    for query in evaluation.counted:
        answers, known = evaluation.rankings(query.id), known_ids(query)
        wanted = [i for i in known if i in query.forbidden or not (is_said or query.judgments.get(i) == 0)]
        missing = {folded(one): one for one in wanted if not any(one in ranking for ranking in answers)}
        # As nearly always none is in it: to fold each id of 10,000 answers of 100 takes a second.
        text = f" {folded(' '.join(chain(*answers)))} " if missing else ""
        if any(f" {form} " in text for form in missing):
            came = ((folded(one), one) for one in dict.fromkeys(documents_of(query, chain(*answers))))
            found += [(query.id, missing[f], one) for f, one in came if f in missing and one not in known]
    if found and not any(verdict.word == "ids" for verdict in result.verdicts):
        named = listed(found, FEW, lambda one: f"{one[0]}: {one[1]!a} as {one[2]!a}")
        yield f"What came back is in other letters than what is judged or forbidden, and so is neither: {named}. If it is one document, let both sides write it alike."


def _further_chunks(result: ItemResult) -> Iterator[str]:
    """Say that further chunks of documents take the ranks of others, where nothing is compared."""
    evaluation = result.evaluation
    if result.comparison is not None:
        return
    by_document = [query for query in evaluation.counted if not query.passages]
    answers = [ranking for query in by_document for ranking in evaluation.rankings(query.id)]
    further = sum(is_further_chunk(entry, ranking) for ranking in answers for entry in ranking)
    if further > _MANY_CHUNKS * (total := sum(map(len, answers))):
        yield f"{further:,} of {plural(total, 'result')} are further chunks of documents that stand above, and take the place of others. Set `ir_duplicates = collapse`, and ask for more (`ir_depth = 50`)."


def _not_in_the_run(result: ItemResult) -> Iterator[str]:
    """Name the queries of which a stored run, which stands in for the retriever, says nothing."""
    if missing := result.evaluation.retrieved.missing:
        yield f"No line of the stored run is about {plural(len(missing), 'query')}, which counts as an empty answer: {listed(missing)}."


def _other_order_by_rank(result: ItemResult) -> Iterator[str]:
    """Count the queries of which a TREC run's ranks tell another order than its scores, as far as results are looked at."""
    comparison = result.comparison
    sides = [("the stored run", result.evaluation)]
    if comparison is not None:
        sides.append((result.against.name, comparison.baseline))
    for name, evaluation in sides:
        answers = [evaluation.run.answers.get(query.id) for query in evaluation.counted]
        agreeing = (answer.agreeing for answer in answers if answer and answer.agreeing is not None)
        if otherwise := sum(count < (evaluation.depth or inf) for count in agreeing):
            yield f"In {name} the ranks of {otherwise} of {plural(len(answers), 'query')} tell another order than its scores do, which tie or contradict the ranks. As in trec_eval the scores count, and of equal ones the greater id comes first. Write scores that fall with the rank."


def _unmatched_passages(result: ItemResult) -> Iterator[str]:
    """Name the judged passages that no chunk holds, returned or at an earlier stage, although chunks of their document were returned.

    Beside a baseline those alone that it had found; first those that came in part.
    """
    evaluation, golden, comparison = result.evaluation, result.evaluation.golden, result.comparison
    missed: list[tuple[str, str]] = []
    """The query that judges it, and the passage."""
    for query in (query for query in evaluation.counted if query.passages):
        entries = set(chain.from_iterable(evaluation.rankings(query.id)))
        returned = {*documents_of(query, entries)}
        expected = golden.relevant(query)
        if comparison is not None and comparison.has(query.id):
            expected.intersection_update(chain.from_iterable(comparison.baseline.rankings(query.id)))
        held = entries.union(*evaluation.retrieved.stages.get(query.id, {}).values())
        lost = expected - held
        missed += [(query.id, one.key) for one in query.passages if one.key in lost and one.doc in returned]
    no = "no longer" if comparison is not None and all(comparison.has(i) for i, _ in missed) else "not"
    for part, what, cause in (
        ("cut", f"{no} whole in any returned chunk, only in part", _ON_CUT),
        ("half", f"{no} whole in any returned chunk, only in part", _ON_HALF),
        ("case", f"{no} in any returned chunk but in other capitals or small letters", _ON_CASE),
        ("", f"{no} in any returned chunk, though chunks of the document came back", _ON_MISSED),
    ):
        if these := [pair for pair in missed if result.almost_held.get(pair, "") == part]:
            named = listed(these, _NAMED, lambda one: f"{golden.where_judged(*one)} {one[1]}", between="; ")
            yield f"{plural(len(these), 'passage')} {what}: {named}. {cause}"


def ask_index(runs: Sequence[Evaluation], corpus: Container[str], notes: list[Note]) -> frozenset[str] | None:
    """Return the documents with a grade above 0 that an index lacks, by what ``ir_corpus`` gave, and note them.

    `runs` are today's, and the baseline's if there is one. None, with a note on the fixture, where it cannot be asked, or lacks
    what came back today: it tells of another index then.
    """
    grades = chain.from_iterable(query.documents.items() for query in runs[0].golden.queries.values())
    graded = {doc_id for doc_id, grade in grades if grade > 0}
    is_used_up = isinstance(corpus, Iterator) and not hasattr(type(corpus), "__contains__")
    why = "is an iterator, which `in` uses up" if is_used_up else ""
    try:
        missing = {doc_id for doc_id in graded if not why and doc_id not in corpus}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the user's own may skip, fail or exit, and decides no test
        why = f"raised {describe(error)}"
    if why:
        said = f"The fixture ir_corpus could not be asked for a document: it {why}."
        notes.append(Note("normal", f"{said} Give anything that supports `in`, for example a set of ids."))
        return None
    if not missing:
        return frozenset()
    answers = ((documents_of(q, chain(*one.rankings(q.id))) for q in one.counted) for one in runs)
    came, *was = [sorted(missing.intersection(chain.from_iterable(one))) for one in answers]
    lost = f" Before, {len(was[0]):,} of them came back." if any(was) else ""
    text = f"The index lacks {plural(len(missing), 'document')} with a grade above 0; no ranking can hold {'it' if len(missing) == 1 else 'them'}: {listed(sorted(missing), 50)}.{lost}"
    if came:
        text = f"{plural(len(came), 'judged document')} that ir_corpus lacks came back, such as {came[0]}: it is not of this index. Correct the fixture ir_corpus."
    notes.append(Note("quiet" if lost else "normal", text))
    return None if came else frozenset(missing)


# Against the baseline, or another run


def _edits(comparison: Comparison, result: ItemResult, *, added_alone: bool) -> Iterator[str]:
    """Say how the golden set was edited since the other run was stored: where queries were ``added_alone``, or where not."""
    if not comparison.is_edited or comparison.edited_means:
        return
    from pytest_irmetrics.analysis.edits import edit_text, edits_of  # noqa: PLC0415 - needed after an edit alone

    edits = [*edits_of(comparison)]
    if edits and all(edit.kind is EditKind.ADDED for edit in edits) is added_alone:
        yield edit_text(result, comparison, edits)


def _depths(comparison: Comparison, result: ItemResult) -> Iterator[str]:
    """Say that the two runs are of different depths, so that what the deeper one found further down goes unseen."""
    now, before = comparison.now_in_full.depth, comparison.baseline.run.depth
    if None not in (now, before) and now != before:
        yield f"The depths differ, {now} today and {before} in {result.against.name}; both are cut at {comparison.depth}."
    elif before is None and comparison.paired:  # as a TREC run does not say how many were asked for
        answers = map(comparison.first_rankings, comparison.paired)
        was, is_now = (max(map(len, side)) for side in zip(*answers, strict=True))
        looked_at = max([gate.metric.cutoff or inf for gate in result.gates if gate.compares], default=0)
        if was < min(is_now, looked_at):
            lead = f"No answer of {result.against.name} has more than {plural(was, 'result')}"
            yield f"{lead}, and today's have up to {is_now}: no fall below rank {was} is seen."


def _other_custom_means(comparison: Comparison, result: ItemResult) -> Iterator[str]:
    """Name the user's own metrics that give a baseline's rankings another mean than the one that was stored with them."""
    if wrong := [mean for mean in comparison.wrong_means if mean.metric.kind == "custom"]:
        means = ", ".join(f"{mean.metric.name} {change_text(mean.stated, mean.found)}" for mean in wrong)
        yield f"The rankings of {result.against.name} do not give what they gave when it was stored: {means}. Both runs are scored by today's functions, so a fall may hide in that."


def _sign(comparison: Comparison, result: ItemResult) -> Iterator[str]:
    """Say of a run that passes that clearly fewer results come back than before, or what else its answers show where no mean rose."""
    if not (result.failed or comparison.is_unchanged) and result.evaluation.only is None:
        from pytest_irmetrics.analysis.signs import find_sign  # noqa: PLC0415 - needed where an answer changed alone

        metric, sign = result.leading_metric, find_sign(comparison)
        rose = metric is not None and comparison.change(metric).delta > TOLERANCE
        if sign.kind and (not rose or sign.kind in ("ended_early", "fewer_results")):
            yield sign.text


def _missing_judgments(comparison: Comparison, result: ItemResult) -> Iterator[str]:
    """Say that a fall that fails nothing may come of missing judgments; not of single queries, whose rankings show what is new."""
    metric, skipped = result.leading_metric, result.failed or result.evaluation.only is not None
    if metric is not None and not skipped and comparison.change(metric).delta < -TOLERANCE:
        from pytest_irmetrics.analysis.kind_of_change import missing_judgments  # noqa: PLC0415 - needed after a fall alone

        yield from filter(None, [missing_judgments(comparison, metric)])


def _hidden_slices(comparison: Comparison, result: ItemResult) -> Iterator[str]:
    """Name the slices without a gate of their own that fell further than the mean, which passes; the clearest first.

    They are judged together: a change that harms nothing has a sentence on any slice in at most 5 of 100 runs.
    """
    metric = result.leading_metric
    failed = any(verdict.on_fall and verdict.tag is None for verdict in result.verdicts)
    if metric is None or failed or not comparison.now.tags:
        return
    from pytest_irmetrics.comparison.slices import slices_that_fell  # noqa: PLC0415 - many golden sets have no tags

    gated = {gate.tag for gate in result.gates if (gate.metric, gate.word) == (metric, "max_drop")}
    fell = [fall for fall in slices_that_fell(comparison, metric) if -fall.change.delta >= AUTO.value]
    hides = "The mean hides that " if comparison.change(metric).delta > -AUTO.value else ""
    for fall in [fall for fall in fell if fall.change.tag not in gated][:FEW]:
        change = fall.change
        counts = f"{len(change.worse)} of {plural(change.n, 'query')} worse, {len(change.better)} better"
        yield f"{hides}{metric.name} fell by {score_text(-change.delta)} in `{change.tag}` ({counts}); the others moved by {signed_text(fall.others_delta)}."


def _run_noise(comparison: Comparison, result: ItemResult, *, small: bool) -> Iterator[str]:
    """Say how much differs from run to run, of means whose limit is smaller than that (``small``), or is not."""
    for verdict in result.verdicts:
        held = verdict.word == "max_drop" and verdict.state in ("passed", "undecided") and not verdict.single
        if not held or verdict.metric is None or verdict.limit is None:
            continue
        noise = comparison.run_noise(verdict.metric, verdict.tag)
        if noise is not None and (verdict.limit < noise.margin) is small:
            limit = f"max_drop {score_text(verdict.limit)} of {mean_name(verdict.metric, verdict.tag)}"
            less = "less" if small else "no less"
            yield f"{limit} is {less} than what differs from run to run. {noise_text(noise, verdict.limit)}"


def _relevant_counts(comparison: Comparison, result: ItemResult) -> Iterator[str]:
    """Count what became of the relevant documents where nothing fails and an answer is another than before."""
    if not (result.failed or comparison.is_unchanged or comparison.now.golden.judges_nothing):
        from pytest_irmetrics.analysis.kind_of_change import relevant_counts  # noqa: PLC0415 - with -v alone

        yield relevant_counts(comparison, result.leading_metric)


_NOTES: Sequence[tuple[NoteLevel, _About]] = (
    ("quiet", _left_out),
    ("normal", _unjudged),
    ("quiet", _small_tags),
    ("normal", _would_pass),
    ("quiet", _nothing_relevant),
    ("quiet", _came_back_empty),
    ("quiet", _queries_left_out),
    ("normal", _answers_cut_short),
    ("quiet", _ids_in_other_letters),
    ("normal", _further_chunks),
    ("quiet", _not_in_the_run),
    ("quiet", _other_order_by_rank),
    ("normal", _unmatched_passages),
)
"""The notes on a run by itself, in their order, each with its `Note.level`; `verbose` is in no report without -v, nor in `score`."""

_COMPARED: Sequence[tuple[NoteLevel, _About]] = (
    ("normal", partial(_edits, added_alone=True)),
    ("quiet", partial(_edits, added_alone=False)),
    ("quiet", _depths),
    ("quiet", _other_custom_means),
    ("quiet", _sign),
    ("normal", _missing_judgments),
    ("normal", _hidden_slices),
    ("normal", partial(_run_noise, small=True)),
    ("verbose", partial(_run_noise, small=False)),
    ("verbose", _relevant_counts),
)
"""The notes on a run beside another one, likewise."""


def notes_on_replaced(stored: Run, asked: Run, run: Run) -> Iterator[Note]:
    """Say which queries' answers in a stored run are replaced by those asked, to give `run`, and which means that lowers."""
    others = len(stored.answers.keys() - asked.answers.keys())
    kept = f"; {plural(others, 'other query is', 'other queries are')} as stored before" if others else ""
    yield Note("normal", f"This accepts {listed([*asked], FEW)}{kept}.")
    yield from notes_on_lower((name, stored.means.get(name), mean) for name, mean in run.means.items())


def notes_on_lower(means: Iterable[tuple[str, float | None, float | None]], by: str = "") -> Iterator[Note]:
    """Say which means, each with its value before and now, are lower in a baseline; and by what, if not by today's labels."""
    lower = [
        f"{name} {change_text(before, now)} ({signed_text(now - before)})"
        for name, before, now in means
        if before is not None and now is not None and now < before - TOLERANCE
    ]
    if lower:
        yield Note("quiet", f"As the baseline this is lower{by}: {', '.join(lower)}.")
