"""Work with reruns, subtests, parametrized retrievers and expected failures."""

from __future__ import annotations

import json

import pytest

from tests.projects import RETRIEVER

GROUPED = """
    def pytest_collection_modifyitems(items):
        for item in items:
            grouped = f"{item.nodeid}@one engine"
            name = {"nodeid": property(lambda self, grouped=grouped: grouped)}
            item.__class__ = type(type(item))("Grouped", (type(item),), name)
"""


def test_a_command_names_the_test_and_not_the_group_that_xdist_appends(project):
    # As its loadgroup does where it finds a mark xdist_group.
    project.write("conftest.py", RETRIEVER + GROUPED)
    project.test('ir_golden("golden/faq.yaml")')
    result = project.run("--ir-baseline")
    result.stdout.fnmatch_lines(["*: pytest 'test_search.py::test_search_quality?faq?' --ir-baseline-update"])


def test_a_command_begins_as_pytest_was_called_also_in_a_worker(project):
    result = project.run_apart("--ir-baseline", "-n", "1", cold=True)
    result.stdout.fnmatch_lines(["*: python -m pytest 'test_search.py::test_search_quality?faq?' --ir-base*"])


FLAKY = """
    calls = []

    @pytest.fixture
    def flaky(retriever):
        calls.append(1)
        return (lambda query, k: []) if len(calls) == 1 else retriever
"""


def test_the_last_of_several_attempts_counts(project):
    project.write("conftest.py", RETRIEVER + FLAKY)
    project.edit("test_search.py", "(irmetrics)", "(irmetrics, flaky)")
    project.edit("test_search.py", "check()", "check(retriever=flaky)")
    result = project.run("--reruns", "1", "--ir-baseline-update")
    result.stdout.fnmatch_lines(["golden/faq.yaml: passes*mrr 0.8333*", "*1 passed*1 rerun*"])
    assert project.baseline.exists()


SUBTESTS = """
    import pytest

    @pytest.mark.ir_golden("golden/*.yaml")
    @pytest.mark.ir_threshold("mrr", 0.5)
    def test_search_quality(irmetrics, subtests):
        with subtests.test("first"):
            {first}
        irmetrics.check()
"""


@pytest.mark.skipif(pytest.version_tuple < (9, 0), reason="pytest's fixture subtests is of 9.0")
@pytest.mark.parametrize("first", ["pass", "assert False", "pytest.skip()", "pytest.xfail()"])
def test_a_subtest_before_the_check_hides_nothing_of_it(project, first):
    project.write("test_search.py", SUBTESTS.format(first=first))
    result = project.run("--ir-baseline-update", "--ir-report=report.json")
    result.stdout.fnmatch_lines(["golden/faq.yaml: passes*mrr 0.8333*"])
    failed = first == "assert False"
    assert result.ret == (pytest.ExitCode.TESTS_FAILED if failed else pytest.ExitCode.OK)
    assert project.baseline.exists() != failed
    told = json.loads((project.path / "report.json").read_text())["tests"][0]
    assert (told["outcome"], told["test_outcome"]) == ("passed", "failed" if failed else "passed")


def test_a_failure_that_the_body_swallows_fails_however_the_fixture_was_asked_for(project):
    project.write(
        "test_search.py",
        """
    def test_search_quality(request):
        try:
            request.getfixturevalue("irmetrics").check(golden="golden/faq.yaml", retriever=lambda query, k: ["x"])
        except BaseException:
            pass
    """,
    )
    project.run().assert_outcomes(failed=1)


def test_a_parametrized_retriever_is_a_test_each(project):
    project.edit("conftest.py", 'scope="session")', 'scope="session", params=["good", "bad"])')
    project.edit("conftest.py", "retriever():", "retriever(request):")
    project.retrieve('answers.get(query, [])[:k] if request.param == "good" else []')
    result = project.run("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["golden/faq.yaml [[]bad]: FAILS, 3 queries; *", "golden/faq.yaml [[]good]: passes, 3 queries; *"]
    )
    project.run("-q").stdout.fnmatch_lines(["retrieval quality: 1 of 2 tests fails"])
    project.run("--ir-baseline-update")
    assert [path.name for path in project.path.glob("ir_baselines/**/*.json")] == [
        "test_search_quality[good-faq].json"
    ] or [path.name for path in project.path.glob("ir_baselines/**/*.json")] == [
        "test_search_quality[faq-good].json"
    ]


def test_an_expected_failure_is_one(project):
    project.test(["xfail", 'ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.99)'])
    project.run().assert_outcomes(xfailed=1)
