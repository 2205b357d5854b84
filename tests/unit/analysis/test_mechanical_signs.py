"""Each sign of a mechanical cause: what shows it, and what nearly does and must not."""

from __future__ import annotations

import random

import pytest

from pytest_irmetrics.analysis.answer_pairs import AnswerPair, AnswerPairs
from pytest_irmetrics.analysis.kind_of_change import SIGNS
from pytest_irmetrics.analysis.sign_wording import sign_text
from pytest_irmetrics.golden import Query

QUERIES = 20
DEPTH = 10


def answer(n, length=DEPTH):
    """A ranking of its own for each query, of which each document is in several answers, in no fixed order."""
    return tuple(f"k{place}z" for place in random.Random(n).sample(range(83), DEPTH))[:length]


def pairs(now, before=answer, queries=QUERIES, params=None, texts=None, tags=None):
    """Pair two functions from a query's number to its ranking."""
    made = [
        AnswerPair(
            Query(
                f"q{n}",
                texts(n) if texts else f"text {n}",
                {},
                params=params(n) if params else {},
                tags=tags(n) if tags else (),
            ),
            [tuple(before(n))],
            [tuple(now(n))],
        )
        for n in range(queries)
    ]
    return AnswerPairs(made, DEPTH)


def found(given):
    """Return the first sign, as the kind of change has it."""
    return next((sign for look in SIGNS if (sign := look(given)) is not None), None)


def said(given):
    sign = found(given)
    return None if sign is None else (sign.kind, sign_text(sign))


def new(n, count=1):
    return tuple(f"{n}new{(3 * i + n) % 10}" for i in range(count))


def test_the_answers_of_these_tests_show_no_sign_when_they_change_a_little():
    def swapped(n):
        first, second, *rest = answer(n)
        return (second, first, *rest)

    assert found(pairs(swapped)) is None
    assert found(pairs(answer)) is None


def test_a_first_result_that_is_missing():
    assert said(pairs(lambda n: answer(n)[1:] + new(n))) == (
        "first_missing",
        (
            "The first result of the baseline is missing from 20 of 20 answers, and the rest moved up by one. Look for an index or "
            "offset that begins at 1."
        ),
    )


def test_several_first_results_that_are_missing_and_answers_that_had_no_more():
    text = said(pairs(lambda n: answer(n, 2 + n % 9)[2:], lambda n: answer(n, 2 + n % 9)))[1]
    assert text == (
        "The first 2 results of the baseline are missing from 17 of 20 answers, and the rest moved up by 2; 3 answers that had "
        "no more are empty. Look at the offset, or the page."
    )


def test_a_first_result_that_fell_is_not_missing():
    assert found(pairs(lambda n: (*answer(n)[1:4], answer(n)[0], *answer(n)[4:]))) is None


def test_one_document_that_left_is_no_first_result_of_all():
    """It was first in each of four answers, and nothing else changed."""
    assert (
        found(pairs(lambda n: answer(n)[n < 4 :], lambda n: ("same", *answer(n)[1:]) if n < 4 else answer(n)))
        is None
    )


def test_reverse_order():
    assert said(pairs(lambda n: answer(n)[::-1])) == (
        "reversed",
        (
            "20 of 20 answers came back in reverse order. Look at the direction of the sort: a distance is best when low, a score "
            "when high."
        ),
    )


def test_reverse_order_where_more_than_an_answer_holds_match():
    text = said(
        pairs(
            lambda n: answer(n, 5)[::-1] if n % 2 else new(n, DEPTH),
            lambda n: answer(n, 5) if n % 2 else answer(n),
        )
    )[1]
    assert text.startswith(
        "10 of 20 answers came back in reverse order, and 10 more with the worst of what matches first."
    )


def test_a_second_page():
    text = said(pairs(lambda n: new(n, 9) if n % 2 else (), lambda n: answer(n, DEPTH if n % 2 else 6)))
    assert text == (
        "next_page",
        (
            "10 of 20 answers have nothing of the baseline's, and 10 that had fewer than 10 results are empty, as on a second page. "
            "Look at the offset, or the page."
        ),
    )


def test_answers_without_their_documents():
    kind, text = said(
        pairs(lambda n: [i for i in answer(n + 40) if i not in answer(n)] if n < 19 else answer(n))
    )
    assert kind == "nothing_shared"
    assert text == (
        "19 of 20 answers share no document with the baseline's. Look at what is searched (index, model, page), and at how "
        "results are sorted."
    )
    kind, text = said(pairs(lambda n: new(n, DEPTH)))
    assert "; no document that came back was in any of the baseline's. Look" in text


def test_the_answer_of_the_query_before():
    assert said(pairs(lambda n: answer((n - 1) % QUERIES))) == (
        "other_query",
        (
            "20 of 20 answers are the baseline's answer of the query before it in the golden set: 'q1' got that of 'q0'. Look for a "
            "cache, shared state, or results put together by position."
        ),
    )


def test_another_querys_answer():
    order = list(range(QUERIES))
    random.Random(3).shuffle(order)
    kind, text = said(pairs(lambda n: answer(order[n])))
    assert kind == "other_query"
    assert "are the baseline's answer to another query: 'q0' got that of" in text


def test_one_answer_to_all():
    kind, text = said(pairs(lambda _: answer(3)))
    assert kind == "same_answer"
    assert text.startswith("The same 10 results came back for 20 of 20 queries.")


@pytest.mark.parametrize("length", [1, 4])
def test_answers_that_end_at_one_length(length):
    kind, text = said(pairs(lambda n: answer(n)[:length]))
    assert kind == "cut"
    assert text.startswith(f"No answer has more than {length} result")
    assert "; 20 of 20 had more, and what is left stands where it did." in text


def test_answers_that_end_early():
    assert said(pairs(lambda n: answer(n)[: n % 9])) == (
        "ended_early",
        (
            "20 of 20 answers end earlier than before, 3 of them empty, and up to there are the baseline's. Look at a stricter match, "
            "a minimum score, a filter on results, or a time limit."
        ),
    )


def test_answers_of_which_every_other_pass_is_as_before_do_not_end_early():
    shorter = pairs(lambda n: answer(n)[: n % 9])
    twice = [AnswerPair(pair.query, pair.before, [*pair.before, *pair.now]) for pair in shorter.pairs]
    assert found(AnswerPairs(twice, DEPTH)) is None
    thrice = [
        AnswerPair(pair.query, pair.before, [*pair.now, *pair.before, *pair.now]) for pair in shorter.pairs
    ]
    assert found(AnswerPairs(thrice, DEPTH)).kind == "ended_early"


def test_the_same_documents_in_another_order():
    kind, text = said(pairs(lambda n: random.Random(n).sample(answer(n), DEPTH)))
    assert kind == "reordered"
    assert text.startswith("20 of 20 answers hold the same documents as before, in quite another order.")


def test_a_reranked_head_is_not_quite_another_order():
    assert found(pairs(lambda n: (*answer(n)[:3][::-1], *answer(n)[3:]))) is None


def test_the_order_of_ids():
    kind, text = said(pairs(lambda n: sorted(answer(n))))
    assert kind == "id_order"
    assert text == (
        "20 of 20 rankings are in the order of their document ids. Look whether results are still sorted by score."
    )
    natural = pairs(lambda n: sorted(answer(n), key=lambda doc: -int(doc.strip("kz"))))
    assert found(natural).kind == "id_order"


def test_one_order_of_all_documents():
    order = random.Random(5).sample(range(83), 83)
    kind, text = said(pairs(lambda n: sorted(answer(n), key=lambda doc: order[int(doc.strip("kz"))])))
    assert kind == "fixed_order"
    assert text.startswith("Documents come back in one order whatever the query")


@pytest.mark.parametrize(
    ("spelt", "example"),
    [
        (str.upper, "'K2Z'"),
        (lambda i: f"kb/{i}", "'kb/k2z'"),
        (lambda i: f"{i}#{len(i)}", "'k2z#3'"),
        (lambda i: f"https://example.org/{i}/", "'https://example.org/k2z/'"),
        (lambda i: i.replace("k", "k00"), "'k002z'"),
    ],
)
def test_ids_in_another_spelling(spelt, example):
    kind, text = said(pairs(lambda n: map(spelt, answer(n))))
    assert kind == "ids_respelt"
    was = answer(0)[0]
    now = spelt("k2z")
    assert now in example
    assert (
        f" ids came back in another spelling than before: {was!r} is now {spelt(was)!r}. Return ids as before."
        in text
    )


def test_a_page_below_another_is_no_other_spelling():
    """Half of the answers hold sections of the pages that they held."""
    given = pairs(lambda n: [f"{i}/part" if n % 2 and int(i[1:-1]) % 3 else i for i in answer(n)])
    assert found(given) is None or found(given).kind != "ids_respelt"


def test_ids_that_were_encoded_for_a_url():
    kind, text = said(
        pairs(lambda n: [f"a%20{i}" for i in answer(n)], lambda n: [f"a {i}" for i in answer(n)])
    )
    assert kind == "ids_respelt"
    assert (
        text.startswith("76 ids came back in another spelling than before: 'a k0z' is now 'a%20k0z'.")
        or "is now 'a%20" in text
    )


def test_ids_that_are_others_one_to_one():
    names = {f"k{n}z": f"{n * 7919:x}u" for n in range(83)}
    kind, text = said(pairs(lambda n: [names[i] for i in answer(n)]))
    assert kind == "ids_renamed"
    assert text.startswith("Each document came back under another id, at the rank that it had: ")
    # Other documents are no renamed ones, though each id is new.
    other = pairs(lambda n: [f"{names[i]}{random.Random(n).random()}"[:9] for i in answer(n)])
    assert found(other).kind == "nothing_shared"


def test_a_document_that_is_new_in_most_answers():
    kind, text = said(pairs(lambda n: ("ad", *answer(n))[:DEPTH] if n < 15 else answer(n)))
    assert (kind, text) == ("new_everywhere", "'ad' is in 15 of 20 answers, at rank 1 in 15, and was in 0.")
    several = said(pairs(lambda n: (*answer(n)[:4], "ad1", "ad2", *answer(n)[4:8])))[1]
    assert several.startswith(
        "2 documents that were in next to no answer are in most: 'ad1', 'ad2'; the first is in 20 of 20"
    )
    assert found(pairs(lambda n: ("ad", *answer(n))[:DEPTH] if n < 9 else answer(n))) is None


def test_documents_that_are_gone():
    gone = {f"k{n}z" for n in range(0, 83, 4)}
    kind, text = said(pairs(lambda n: [i for i in answer(n) if i not in gone] + list(new(n, 3))))
    assert kind == "documents_gone"
    assert (
        text.startswith("18 documents come back for no query any more, and in ")
        or "documents come back for no query" in text
    )


def test_documents_with_like_ids_that_are_gone():
    def of(n):
        return [f"api/{i}" if int(i[1:-1]) % 4 == 0 else f"guide/{i}" for i in answer(n)]

    kind, text = said(pairs(lambda n: [i for i in of(n) if i.startswith("guide")], of))
    assert kind == "documents_gone"
    assert text.startswith("None of the ")
    assert " documents with ids like 'api/'… comes back any more; the baseline had them in " in text


def test_documents_whose_ids_begin_with_like_letters_are_named_by_the_first_of_them():
    def of(n):
        return [f"api{i[1:-1]}" if int(i[1:-1]) % 4 == 0 else f"guide{i[1:-1]}" for i in answer(n)]

    sign = found(pairs(lambda n: [i for i in of(n) if i.startswith("guide")], of))
    first = min(doc_id for n in range(QUERIES) for doc_id in of(n) if doc_id.startswith("api"))
    assert (sign.kind, sign.ids) == ("documents_gone", (first,))


def test_documents_that_new_ones_push_out_are_not_gone():
    assert found(pairs(lambda n: (*new(n, 4), *answer(n))[:DEPTH])) is None


def test_answers_that_are_empty_and_what_they_have_in_common():
    given = pairs(lambda n: () if n in (2, 5, 9, 11) else answer(n))
    assert said(given)[1] == "Nothing comes back any more for 4 of 20 queries."
    shared = {
        "with lang='de'": {"params": lambda n: {"lang": "de"} if n % 4 == 0 else {}},
        "tagged long": {"tags": lambda n: ("long",) if n % 4 == 0 else ()},
        "of more than 2 words": {"texts": lambda n: f"text {n}" + " and more" * (n % 4 == 0)},
    }
    for trait, given in shared.items():
        assert said(pairs(lambda n: () if n % 4 == 0 else answer(n), **given))[1] == (
            f"Nothing comes back any more for 5 of 20 queries: all those {trait}, and no other."
        )
    assert said(pairs(lambda _: ()))[1] == "Nothing comes back any more for any of 20 queries."


def test_params_that_make_no_difference():
    given = pairs(
        lambda n: answer(n // 2 * 2),
        params=lambda n: {"lang": "de" if n % 2 else "en"},
        texts=lambda n: f"text {n // 2}",
    )
    assert said(given) == (
        "params_ignored",
        (
            "20 queries that differ from another in params alone got its answer, and did not before: 'q0' and 'q1'. Look whether "
            "params reach the engine."
        ),
    )


def test_params_that_make_a_difference_to_most_queries_are_not_ignored():
    given = pairs(
        lambda n: answer(n // 2 * 2 if n < 8 else n),
        params=lambda n: {"lang": "de" if n % 2 else "en"},
        texts=lambda n: f"text {n // 2}",
    )
    sign = found(given)
    assert sign is None or sign.kind != "params_ignored"


def test_queries_with_something_in_common_whose_answers_alone_changed():
    def text(n):
        return f"An upper-case {n}" if n % 3 == 0 else f"all lower case {n}"

    def swapped(n):
        return (*answer(n)[:5][::-1], *answer(n)[5:]) if n % 3 == 0 else answer(n)

    kind, sentence = said(pairs(swapped, texts=text))
    assert kind == "kind_of_query"
    assert sentence.startswith("The 7 of 20 queries whose answers changed are those with")
    assert sentence.endswith(": all of them, and no other.")


def test_a_query_that_was_asked_several_times_shows_a_sign_if_each_answer_does():
    def asked(now):
        made = [
            AnswerPair(Query(f"q{n}", "", {}), [answer(n), answer(n)[::-1]], [tuple(r) for r in now(n)])
            for n in range(QUERIES)
        ]
        return AnswerPairs(made, DEPTH)

    assert found(asked(lambda n: [answer(n)[1:], answer(n)[::-1][1:]])).kind == "first_missing"
    assert found(asked(lambda n: [answer(n)[1:], answer(n)])) is None


@pytest.mark.parametrize("queries", [1, 2])
def test_one_or_two_queries_show_nothing(queries):
    for change in (lambda n: answer(n)[1:], lambda n: answer(n)[::-1], lambda _: (), lambda _: answer(50)):
        assert found(pairs(change, queries=queries)) is None
