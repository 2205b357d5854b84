"""Fail a test whose check was swallowed or never ran, or whose marks mean nothing."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import text_of, write_tests


@pytest.mark.parametrize(
    "body",
    [
        "try:\n        irmetrics.check()\n    except BaseException:\n        pass",
        "with pytest.raises(BaseException):\n        irmetrics.check()",
        "import threading\n    thread = threading.Thread(target=irmetrics.check)\n    thread.start()\n    thread.join()",
    ],
    ids=["try", "raises", "thread"],
)
def test_a_failed_check_fails_its_test_also_where_the_body_swallows_it(project, body):
    write_tests(project, f"GATED\ndef test_it(irmetrics):\n    {body}\n")
    result = project.run("-W", "ignore")
    result.assert_outcomes(failed=1)
    assert "mrr is 0.8333, 0.1567 below the threshold" in text_of(result)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("irmetrics.check(retriever=lambda query, k: 1 / 0)", "3 of 3 queries could not be retrieved"),
        ("irmetrics.check(golden='nope.yaml')", "nope.yaml:1:1: There is no such file."),
        ("irmetrics.check(), irmetrics.check()", "mrr is 0.8333"),
        (
            "irmetrics.check(retriever=lambda query, k: exit(3))",
            "check() was called and did not come to its end",
        ),
    ],
)
def test_a_check_that_could_not_be_made_fails_its_test_also_where_the_body_swallows_it(
    project, call, message
):
    write_tests(project, f"GATED\ndef test_it(irmetrics):\n    try: {call}\n    except BaseException: pass\n")
    result = project.run()
    result.assert_outcomes(failed=1)
    assert message in text_of(result)
    assert "not awaited" not in text_of(result)


@pytest.mark.parametrize(
    "code",
    [
        "GATED\nasync def test_it(irmetrics):\n    await irmetrics.acheck()\n",
        "GATED\ndef test_it(irmetrics):\n    return irmetrics.acheck()\n",
        "GATED\nasync def test_it(irmetrics):\n    irmetrics.check()\n",
    ],
    ids=["async def", "returned coroutine", "async def with check"],
)
def test_an_async_test_that_no_plugin_runs_fails_in_every_version_of_pytest(project, code):
    write_tests(project, code)
    result = project.run_apart("-W", "ignore")
    result.assert_outcomes(failed=1)
    text_of(result)


@pytest.mark.parametrize(
    ("code", "outcomes", "message"),
    [
        (
            "import unittest\n\nGATED\nclass TestIt(unittest.TestCase):\n    def test_it(self): pass\n",
            {"failed": 1},
            "The marks on TestIt bind to nothing",
        ),
        (
            "import unittest\n\nGATED\nclass TestIt(unittest.TestCase):\n    @pytest.fixture(autouse=True)\n    def gate(self, irmetrics): self.gate = irmetrics\n    def test_it(self): self.gate.check()\n",
            {"failed": 1},
            "not to a method of unittest.TestCase",
        ),
        (
            'GATED\ndef test_it(request):\n    request.getfixturevalue("irmetrics").check()\n',
            {"failed": 1},
            "binds to nothing: this test does not request the fixture irmetrics.",
        ),
        (
            "@pytest.fixture(autouse=True)\ndef gate(irmetrics): irmetrics.check()\n\nGATED\ndef test_it(): pass\n",
            {"errors": 1},
            "golden/faq.yaml: FAILS, 3 queries; mrr 0.8333",
        ),
        (
            "@pytest.fixture\ndef gate(irmetrics): return irmetrics\n\nGATED\ndef test_it(gate): gate.check()\n",
            {"failed": 1},
            "golden/faq.yaml: FAILS, 3 queries; mrr 0.8333",
        ),
        (
            "GATED\nclass Base:\n    def test_it(self, irmetrics): irmetrics.check()\n\nclass TestIt(Base): pass\n",
            {"failed": 1},
            "Set in test_search.py: ir_threshold on the class Base.",
        ),
        (
            "GATED\nclass TestOut:\n    def test_no(self): pass\n    class TestIn:\n        def test_it(self, irmetrics): irmetrics.check()\n",
            {"passed": 1, "failed": 1},
            "ir_threshold on the class TestOut",
        ),
        (
            'GATED\n@pytest.mark.parametrize("x", ["a::b", "/"])\ndef test_it(irmetrics, x): irmetrics.check()\n',
            {"failed": 2},
            "--ir-query hours",
        ),
        (
            (
                'GATED\n@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.ir_golden("no.yaml"))])\n'
                "def test_it(irmetrics, x): irmetrics.check()\n\ndef test_other(): pass\n"
            ),
            {"passed": 1, "failed": 2},
            "ir_golden on a parameter binds to nothing",
        ),
    ],
    ids=[
        "unittest",
        "unittest fixture",
        "getfixturevalue",
        "autouse",
        "wrapped",
        "base class",
        "nested",
        "ids",
        "parameter",
    ],
)
def test_marks_gate_or_say_why_not_on_every_kind_of_test(project, code, outcomes, message):
    write_tests(project, code)
    result = project.run("-v", "-W", "ignore")
    result.assert_outcomes(**outcomes)
    text_of(result)
    assert message in text_of(result)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        (['irthreshold("mrr", 0.9)'], "There is no mark 'irthreshold'. Did you mean 'ir_threshold'?"),
        (['ir_Golden("x")'], "There is no mark 'ir_Golden'. Did you mean 'ir_golden'?"),
        (
            ['ir_golden("golden/*.yaml", depth=20)'],
            "Two ir_golden marks name the golden set 'faq', and differ",
        ),
        (['ir_golden("/nowhere/*.yaml")'], "ir_golden('/nowhere/*.yaml') matches no file. Mend"),
        (["ir_golden(7)"], "ir_golden needs a path or pattern"),
        (
            ['ir_golden("golden/faq.yaml", depth=0)'],
            "ir_golden(depth=0): the depth is a whole number, 1 or more.",
        ),
        (
            ["ir_threshold(0.5)"],
            'test_search.py: ir_threshold on the test: write ir_threshold("ndcg@10", 0.7)',
        ),
        (['ir_threshold("mrr", True)'], "`min` of mrr is True, which is not a number"),
        (['ir_threshold("mrr", 0.5, min=0.6)'], "`min` is given twice"),
        (
            ['ir_threshold("P@5", 0.1)', 'ir_threshold("precision@5", 0.1)'],
            "`min` of precision@5 is set twice",
        ),
        (['ir_threshold("latency_p95", 3)'], "`min` does not apply to latency_p95, where lower is better"),
    ],
)
def test_a_mark_that_means_nothing_fails_in_words(project, marks, message):
    project.test(['ir_golden("golden/*.yaml")', *marks])
    result = project.run("-W", "ignore")
    assert result.ret == 1
    assert message in text_of(result)


def test_a_test_that_is_run_alone_does_not_need_the_marks_of_its_class(project):
    write_tests(
        project,
        "GATED\nclass TestIt:\n    def test_no(self): pass\n    def test_it(self, irmetrics): irmetrics.check()\n",
    )
    project.run("test_search.py::TestIt::test_no").assert_outcomes(passed=1)
