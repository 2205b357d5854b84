"""Golden sets of documents whose search returns chunks: the document is read from a chunk's metadata, or the message says where."""

from __future__ import annotations

import json
from itertools import takewhile

import pytest

from tests.projects import printed

DOCUMENT = """
class Document:
    def __init__(self, source, id=None, **fields):
        self.id, self.page_content, self.metadata = id, "text", {"source": source, **fields}

@pytest.fixture
def retriever():
    return lambda query, k: [{chunks}]
"""


FILE = 'doc.metadata["file"]'
UUID = "5a1ad7a2-6fd4-4b7c-9c0e-1d8a35b7d2f1"


def chunks(project, text, relevant="refund.md"):
    conftest = DOCUMENT.replace("{chunks}", text)
    project.write("conftest.py", f"import pytest\n{conftest}")
    project.write("golden/faq.yaml", f"queries: [{{query: refund, relevant: [{relevant}]}}]")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.4)'])
    return project


@pytest.mark.parametrize(
    ("returned", "mrr"),
    [
        ("Document('faq.md', 'c1'), Document('refund.md', 'c2'), Document('refund.md', 'c3')", 0.5),
        ("Document('faq.md'), Document('refund.md'), Document('refund.md', 'c3')", 0.5),
        ("(Document('refund.md', 'c2'), 0.9), (Document('faq.md', 'c1'), 0.5)", 1.0),
        # By their own ids, which the golden set has.
        ("Document('refund.md', 'x'), Document('the web', 'refund.md')", 0.5),
    ],
)
def test_a_document_is_what_the_metadata_of_its_chunks_names(project, returned, mrr):
    project = chunks(project, returned)
    result = project.run("-v")
    result.assert_outcomes(passed=1)
    assert f"mrr {mrr:.4f}" in printed(result)
    project.edit("golden/faq.yaml", "]}", "], forbidden: [c1]}")  # a chunk, of which nothing else is known
    said = printed(project.run("-v"))
    assert f"mrr {mrr:.4f}" in said
    assert ("c1 is forbidden and stands" in said) == ("'c1'" in returned)


@pytest.mark.parametrize(
    ("queries", "answer"),
    [
        ("{query: refund, relevant: none.md}, {query: leak, relevant: secret.md}", '"secret.md", "faq.md"'),
        ("{query: refund, relevant: none.md}, {query: leak, relevant: c2}", '"c1", "c2"'),
        ("{query: refund, relevant: faq.md}, {query: leak, relevant: c2}", '"secret.md", "faq.md"'),
        ("{query: refund, relevant: c2}, {query: leak, relevant: c2}", '"c1", "c2"'),
    ],
)
def test_where_nothing_that_a_query_judges_came_back_the_other_queries_tell(project, queries, answer):
    chunks(project, "Document('secret.md', 'c1'), Document('faq.md', 'c2')")
    project.write("golden/faq.yaml", f"queries: [{queries}]")
    project.test(['ir_golden("golden/*.yaml")'])
    project.store()
    [refund] = [line for line in project.baseline.read_text().split("\n") if '"refund"' in line]
    assert f'"rankings": [[{answer}]]' in refund
    project.write("golden/faq.yaml", f"queries: [{queries.replace('}, ', ', forbidden: [secret.md]}, ', 1)}]")
    assert "secret.md is forbidden and stands at rank 1." in printed(project.run())


@pytest.mark.parametrize(
    ("judged", "ids", "count", "leak", "answer"),
    [
        ("faq.md", "c{}", 3, "faq.md", "help.md"),
        ("c1", "c{}", 3, "faq.md", "c2"),
        ("[]", "c{}", 3, "faq.md", "help.md"),
        ("[]", "c{}", 4, "help.md", "c2"),  # more than half of the answers have it: the name of a store
        ("[]", UUID[:-1] + "{}", 40, "faq.md", UUID[:-1] + "2"),  # so do many ids, not all UUIDs
        ("[]", UUID[:-2] + "{:02}", 30, "help.md", "help.md"),
    ],
)
def test_where_neither_name_is_judged_the_other_answers_tell(project, judged, ids, count, leak, answer):
    document = f"Document('x.md' if n == 3 else 'help.md' if n > 1 else '{leak}', {ids!r}.format(n))"
    chunks(project, f"{document} for n in range(1, {count}) if (n == 1) == (query == 'leak')")
    empty = ", ".join(f"{{query: a{n}, no_answer: true}}" for n in range(3))
    queries = f"{{query: leak, relevant: {judged}}}, {{query: refund, relevant: []}}, {empty}"
    project.write("golden/faq.yaml", f"queries: [{queries}]")
    project.edit("conftest.py", "lambda query, k:", "lambda query, k: [] if query < 'b' else")
    project.test(['ir_golden("golden/*.yaml")'])
    for options in ((), ("--ir-query", "refund")):  # of one query alone the baseline tells
        project.run("-o", "ir_depth=30", "--ir-baseline-update", *options)
        [refund] = [line for line in project.baseline.read_text().split("\n") if '"refund"' in line]
        assert f'"rankings": [["{answer}"' in refund


@pytest.mark.parametrize("judged", ["refund.md", "{refund.md: 1, faq.md: 0}"])
def test_no_judgment_of_grade_0_changes_a_rank(project, judged):
    chunks(project, "Document('faq.md', 'c1'), Document('faq.md', 'c2'), Document('refund.md', 'c3')")
    project.edit("golden/faq.yaml", "[refund.md]", judged)
    project.edit("test_search.py", "0.4", "0.3")
    assert "mrr 0.5000" in printed(project.run("-o", "ir_duplicates=collapse"))
    project.store()
    assert '["faq.md", "faq.md (chunk c2)", "refund.md"]' in project.baseline.read_text()
    assert "1 of 3 results are further chunks of documents that stand above" in printed(project.run())
    project.edit("test_search.py", "0.3", "0.9")
    assert "1 of 3 results are further chunks of documents that stand above" in printed(project.run())


def test_the_json_report_has_the_texts_of_what_nobody_judged_yet(project):
    long = "Document('long.md', 'c4')"
    chunks(
        project, f"Document('faq.md', 'c1'), Document('faq.md', 'c2'), Document('refund.md', 'c3'), {long}"
    )
    project.edit(
        "conftest.py", '"text", {"source"', '"x" * 4001 if "long" in source else f"\\n{id:3999}", {"source"'
    )
    project.run("--ir-report=run.json")
    [query] = json.loads((project.path / "run.json").read_text())["tests"][0]["queries"]
    assert query["texts"] == {"faq.md": f"\n{'c1':3999}", "faq.md (chunk c2)": f"\n{'c2':3999}"}


@pytest.mark.parametrize(
    ("relevant", "returned", "path"),
    [
        ("refund.md", "*(Document('web', n, file=str(n or 'refund.md')) for n in range(10)),", FILE),
        # A part that is the item again is looked through a few times.
        (
            "refund.md",
            "*[setattr(d := Document('web', 'c1', file='refund.md'), 'node', d), d][1:],",
            FILE,
        ),
        # No id can be read.
        ("refund.md", "Document(None, file='faq.md'), Document(None, file='refund.md')", FILE),
        ("refund.md", "(Document(None, file='refund.md'), 0.9),", 'doc[0].metadata["file"]'),
        # Two lengths of one error, and quotes of both kinds.
        (
            "c1",
            """{'text': 'x' if query < 'r' else 'x' * 99 + "it's a \\"1", 'page': 'c1'},""",
            'doc["page"]',
        ),
        # The id is the end of a path; the field that has most wins.
        (
            "refund.md",
            "Document('docs/faq.md'), Document('docs/kb/refund.md')",
            'doc.metadata["source"].rpartition("/")[2]',
        ),
        ("refund", "'docs/faq.md', 'docs/refund.md'", 'doc.rpartition("/")[2].removesuffix(".md")'),
        ("v1.2, b", "{'id': 'v1.2.md', 'title': 'b'}, {'id': 'b.md'}", 'doc["id"].removesuffix(".md")'),
        (
            "kb/refund",
            "Document('docs/kb/refund.md', 'c1'),",
            'doc.metadata["source"].removeprefix("docs/").removesuffix(".md")',
        ),
        (
            "kb/refund",
            """Document('"öur" docs/kb/refund.md', 'c1'),""",
            r'doc.metadata["source"].removeprefix("\"öur\" docs/").removesuffix(".md")',
        ),
        ("refund.md", "Document('a/refund.md', 'c', file='a.md'), Document('a', file='refund.md')", FILE),
    ],
)
def test_where_another_field_has_the_ids_the_fixture_to_write_is_printed(project, relevant, returned, path):
    chunks(project, returned, relevant)
    project.edit("golden/faq.yaml", "]}]", "]}, {query: other, relevant: []}]")
    result = project.run()
    result.assert_outcomes(failed=1)
    at = next(number for number, line in enumerate(result.outlines) if "@pytest.fixture" in line)
    said = " ".join(" ".join(result.outlines[:at]).split())
    assert said.endswith(f"What came back has judged ids in `{path}`. Write into conftest.py:")
    assert not any(other in printed(result) for other in ("found[", "other error"))
    assert ("Returned: " in said) == ("Expected: " in said)
    fixture = "\n".join(takewhile(lambda line: line.startswith(("@", "def", "  ")), result.outlines[at:]))
    assert f"lambda doc: {path})" in " ".join(fixture.split())
    conftest = (project.path / "conftest.py").read_text()
    project.write("conftest.py", f"{conftest}\n{fixture}\n")
    project.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("relevant", "returned"),
    [
        ("refund.md", "Document(None, file='faq.md')"),
        ("refund.md", "Document('docs/no-refund.md')"),
        ("refund.md", "Document(None, 'c1', file='refund.md'), Document(None, 'c1')"),
        ("refund.md", "Document(None), Document(None, 'refund.md')"),
        ("a, b, c, d, e, f, g, h, i, j", "*(Document(str(n), title='a') for n in range(10)),"),  # by chance
    ],
)
def test_no_fixture_is_printed_where_it_would_not_help(project, relevant, returned):
    result = chunks(project, returned, relevant).run()
    result.assert_outcomes(failed=1)
    assert "def ir_doc_id" not in printed(result)


def test_where_the_golden_set_gets_ids_of_another_field_those_that_it_expects_are_shown_too(project):
    chunks(project, "{'id': 'c1', 'page': 'p7'},", relevant="c1").store()
    project.edit("golden/faq.yaml", "c1", "p7")
    said = " ".join(printed(project.run("--ir-baseline")).split())
    assert "Expected: 'p7'. What came back has judged ids in `doc[\"page\"]`." in said


def test_a_golden_set_in_ids_of_chunks_stays_one(project):
    chunks(project, "Document('faq.md', 'c1'), Document('faq.md', 'c2')")
    project.write(
        "golden/faq.yaml", "queries: [{query: refund, relevant: [c2]}, {query: none, relevant: [c7]}]"
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.2)'])
    project.store()
    assert '["c1", "c2"]' in project.baseline.read_text()


def test_smaller_chunks_are_not_fewer_results(project):
    chunks(project, "Document(f'd{n}', f'd{n}#{query}') for n in range(10)", relevant="d0")
    queries = ", ".join(f"{{query: q{n}, relevant: [d0]}}" for n in range(6))
    project.write("golden/faq.yaml", f"queries: [{queries}]")
    project.store("-o", "ir_duplicates=collapse")
    project.edit("conftest.py", "f'd{n}', f'd{n}#{query}'", "f'd{n // 5 * 9}', f'd{n // 5 * 9}#{n}'")
    said = printed(project.run("--ir-baseline", "-o", "ir_duplicates=collapse"))
    assert "Fewer results come back" not in said
