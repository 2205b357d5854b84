"""The sentence of each sign: what was seen, with its counts, and where it is useful the place to look first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_irmetrics.base.wording import listed, plural, quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_irmetrics.analysis.answer_pairs import Sign, SignKind

_NAMED = 3
"""Documents that a sentence names."""


def sign_text(sign: Sign) -> str:
    """Return the sentence of a sign."""
    return _SENTENCES[sign.kind](sign)


def _answers(count: int) -> str:
    return plural(count, "answer")


def _places(count: int | None) -> str:
    return f"{count or 0:,}" if count != 1 else "one"


def _ids_respelt(sign: Sign) -> str:
    was, is_ = map(quote, sign.ids)
    return f"{plural(sign.number or 0, 'id')} came back in another spelling than before: {was} is now {is_}. Return ids as before."


def _ids_renamed(sign: Sign) -> str:
    was, is_ = map(quote, sign.ids)
    return (
        f"Each document came back under another id, at the rank that it had: {was} is now {is_} in all {sign.more:,} answers. "
        "Return ids as before."
    )


def _first_missing(sign: Sign) -> str:
    one = sign.number == 1
    which = "The first result" if one else f"The first {sign.number} results"
    look = "Look for an index or offset that begins at 1." if one else "Look at the offset, or the page."
    verb = "is" if one else "are"
    empty = (
        f"; {_answers(sign.more)} that had no more {'is' if sign.more == 1 else 'are'} empty"
        if sign.more
        else ""
    )
    return (
        f"{which} of the baseline {verb} missing from {sign.seen:,} of {_answers(sign.of)}, and the rest moved up by "
        f"{_places(sign.number)}{empty}. {look}"
    )


def _reversed(sign: Sign) -> str:
    worst = f", and {sign.more:,} more with the worst of what matches first" if sign.more else ""
    return (
        f"{sign.seen:,} of {_answers(sign.of)} came back in reverse order{worst}. Look at the direction of the sort: a distance "
        "is best when low, a score when high."
    )


def _next_page(sign: Sign) -> str:
    return (
        f"{sign.seen:,} of {_answers(sign.of)} have nothing of the baseline's, and {sign.more:,} that had fewer than "
        f"{sign.number} results are empty, as on a second page. Look at the offset, or the page."
    )


def _nothing_shared(sign: Sign) -> str:
    how = "no document" if sign.number == sign.seen else "next to no document"
    unknown = "; no document that came back was in any of the baseline's" if sign.name else ""
    return (
        f"{sign.seen:,} of {_answers(sign.of)} share {how} with the baseline's{unknown}. Look at what is searched (index, "
        "model, page), and at how results are sorted."
    )


def _same_answer(sign: Sign) -> str:
    length = plural(sign.number or 0, "result")
    return (
        f"The same {length} came back for {sign.seen:,} of {plural(sign.of, 'query', 'queries')}. Look whether the query's text "
        "reaches the engine, and for a cache."
    )


def _other_query(sign: Sign) -> str:
    this, other = map(quote, sign.queries)
    if sign.number in (1, -1):
        whose = "of the query before it" if sign.number == 1 else "of the query after it"
        example = f"{this} got that of {other}"
        return (
            f"{sign.seen:,} of {_answers(sign.of)} are the baseline's answer {whose} in the golden set: {example}. Look for a "
            "cache, shared state, or results put together by position."
        )
    return (
        f"{sign.seen:,} of {_answers(sign.of)} are the baseline's answer to another query: {this} got that of {other}. Look for "
        "the key of a cache, shared state, or results put together by position."
    )


def _params_ignored(sign: Sign) -> str:
    return (
        f"{sign.seen:,} queries that differ from another in params alone got its answer, and did not before: "
        f"{listed(sign.queries, _NAMED, quote, ' and ')}. Look whether params reach the engine."
    )


def _cut(sign: Sign) -> str:
    same = "" if sign.more == sign.seen else f"in {sign.more:,} of these "
    return (
        f"No answer has more than {plural(sign.number or 0, 'result')}; {sign.seen:,} of {sign.of:,} had more, and {same}what "
        "is left stands where it did. Look at the number of results that is asked for."
    )


def _ended_early(sign: Sign) -> str:
    empty = f", {sign.more:,} of them empty" if sign.more else ""
    return (
        f"{sign.seen:,} of {_answers(sign.of)} end earlier than before{empty}, and up to there are the baseline's. Look at a "
        "stricter match, a minimum score, a filter on results, or a time limit."
    )


def _nothing_returned(sign: Sign) -> str:
    queries = plural(sign.of, "query", "queries")
    if sign.seen == sign.of:
        return f"Nothing comes back any more for any of {queries}."
    which = f": all those {sign.name}, and no other" if sign.name else ""
    return f"Nothing comes back any more for {sign.seen:,} of {queries}{which}."


def _new_everywhere(sign: Sign) -> str:
    before = sign.number or 0
    first = f", at rank 1 in {sign.more:,}" if sign.more else ""
    if len(sign.ids) == 1:
        return (
            f"{quote(sign.ids[0])} is in {sign.seen:,} of {_answers(sign.of)}{first}, and was in {before:,}."
        )
    return (
        f"{len(sign.ids):,} documents that were in next to no answer are in most: {listed(sign.ids, _NAMED, quote)}; the first is in "
        f"{sign.seen:,} of {_answers(sign.of)}{first}, and was in {before:,}."
    )


def _documents_gone(sign: Sign) -> str:
    look = "Look whether they are in the index, or filtered out."
    if sign.ids:
        alike = listed(
            [f"{quote(doc_id)}…" if doc_id[-1:] in "/:#._-" else quote(doc_id) for doc_id in sign.ids], _NAMED
        )
        return (
            f"None of the {sign.number:,} documents with ids like {alike} comes back any more; the baseline had them in "
            f"{sign.seen:,} of {_answers(sign.of)}. {look}"
        )
    return (
        f"{sign.number:,} documents come back for no query any more, and in {sign.more:,} of the {sign.seen:,} answers that had "
        f"them the rest moved up in its order. {look}"
    )


def _id_order(sign: Sign) -> str:
    return (
        f"{sign.seen:,} of {plural(sign.of, 'ranking')} are in the order of their document ids. Look whether results are "
        "still sorted by score."
    )


def _reordered(sign: Sign) -> str:
    return (
        f"{sign.seen:,} of {_answers(sign.of)} hold the same documents as before, in quite another order. Look at what ranks "
        "them rather than at what finds them."
    )


def _fixed_order(sign: Sign) -> str:
    return (
        f"Documents come back in one order whatever the query: those of {sign.seen:,} of {_answers(sign.of)} never stand in another. "
        "Look whether results are sorted by score."
    )


def _kind_of_query(sign: Sign) -> str:
    queries = f"The {sign.seen:,} of {plural(sign.of, 'query', 'queries')} whose answers changed are"
    if sign.number == sign.seen:
        return f"{queries} those {sign.name}: all of them, and no other."
    return f"{queries} all {sign.name}; {sign.number:,} are in all."


_SENTENCES: Mapping[SignKind, Callable[[Sign], str]] = {
    "ids_respelt": _ids_respelt,
    "ids_renamed": _ids_renamed,
    "same_answer": _same_answer,
    "first_missing": _first_missing,
    "reversed": _reversed,
    "next_page": _next_page,
    "params_ignored": _params_ignored,
    "other_query": _other_query,
    "cut": _cut,
    "ended_early": _ended_early,
    "nothing_returned": _nothing_returned,
    "new_everywhere": _new_everywhere,
    "documents_gone": _documents_gone,
    "id_order": _id_order,
    "fixed_order": _fixed_order,
    "reordered": _reordered,
    "nothing_shared": _nothing_shared,
    "kind_of_query": _kind_of_query,
}
