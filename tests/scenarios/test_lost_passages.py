"""A fall of passages speaks of passages: which no chunk holds whole, or in these letters, any more, and which the ranking missed."""

from __future__ import annotations

from tests.projects import printed

GOLDEN = """
queries:
- query: returns
  relevant:
  - {doc: handbook, text: thirty days after purchase}
  - {doc: handbook, text: the way back costs nothing}
  - {doc: handbook, text: in no chunk at any time}
  - {doc: handbook, text: we replace}
- {query: again, relevant: [{doc: handbook, text: we replace}]}
"""
WHOLE = [
    {"id": 1, "doc_id": "handbook", "text": "Return it within thirty days after purchase."},
    {"id": 2, "doc_id": "handbook", "text": "In the EU the way back costs nothing."},
    {"id": 3, "doc_id": "handbook", "text": "Then we repair."},
]
CUT = [
    {"id": 1, "doc_id": "handbook", "text": "Return it within thirty days"},
    {"id": 2, "doc_id": "handbook", "text": "In the EU: THE WAY back costs nothing."},
    {"id": 3, "doc_id": "handbook", "text": "Then we repair; it costs nothing."},
]


def test_passages_that_a_border_cuts_are_told_from_those_that_rank_too_low(project):
    project.write("golden/faq.yaml", GOLDEN)
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("recall", max_drop=0.01)'])
    project.answers({"returns": WHOLE, "again": WHOLE})
    project.store()
    passed = printed(project.run("--ir-baseline"))
    assert "in any returned chunk" not in passed
    first = printed(project.run())
    assert "3 passages not in any returned chunk, though chunks of the document came back" in first
    assert "The ranking missed it, or the corpus words it otherwise, or cuts it into small pieces." in first
    shouted = {**WHOLE[0], "id": 4, "text": WHOLE[0]["text"].upper()}  # of no matter to the other query
    project.answers({"returns": CUT, "again": WHOLE, "new": [shouted, *WHOLE]})
    new = "- {query: new, relevant: [a-document, {doc: handbook, text: thirty days after purchase}]}\n"
    project.edit("golden/faq.yaml", "- {query: again", f"{new}- {{query: again")
    result = project.run("--ir-baseline")
    result.assert_outcomes(failed=1)
    said = printed(result)
    assert "The border of a chunk cuts it: let chunks overlap by as much" in said
    assert "or judge a shorter text. note:" in said
    assert "2 relevant passages left the first 10, 0 came in" in said
    assert (
        "1 passage no longer whole in any returned chunk, only in part: golden/faq.yaml:4 handbook: thirty"
        in said
    )
    assert (
        "1 passage no longer in any returned chunk but in other capitals or small letters: golden/faq.yaml:5"
        in said
    )
    assert "Case counts: return chunks as the corpus has them, or judge the text that comes back." in said
    assert "in no chunk at any time" not in said
