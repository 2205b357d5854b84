"""What a retriever may be and do, seen from a test: whatever goes wrong is told by query, and nothing is scored."""

from __future__ import annotations

import textwrap

import pytest

from tests.plugin.conftest import ANSWERS, TEST, printed


def use(project, retriever, before=""):
    project.write(
        "conftest.py",
        f"import pytest\n{before}\n\n@pytest.fixture\ndef retriever():\n    return {retriever}\n",
    )


def test_without_a_retriever_the_message_shows_the_lines_to_write(project):
    (project.path / "conftest.py").unlink()
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["There is no fixture named retriever*", "    def retriever():", "*ids, best first*"]
    )


def test_a_retriever_of_one_folder_does_not_keep_another_from_being_told_what_to_write(project):
    for folder in ("one", "two"):
        project.write(f"{folder}/test_{folder}.py", TEST.replace("golden/*", "../golden/*"))
    conftest = project.path / "conftest.py"
    conftest.rename(project.path / "one" / "conftest.py")
    (project.path / "answers.json").rename(project.path / "one" / "answers.json")
    (project.path / "test_search.py").unlink()
    result = project.run("one", "two")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["There is no fixture named retriever*"])


def test_a_test_may_bring_its_own_retriever_and_golden_set(project):
    (project.path / "conftest.py").unlink()
    project.write(
        "test_search.py",
        """
        from pytest_irmetrics import GoldenSet

        def search(query, k):
            return ["doc-9"]

        def test_path(irmetrics):
            assert irmetrics.check(retriever=search, golden="golden/faq.yaml")["recall@10"] > 0

        def test_object(irmetrics):
            golden = GoldenSet.from_judgments({"q1": {"doc-9": 1}}, texts={"q1": "refund"})
            assert irmetrics.check(retriever=search, golden=golden)["mrr"] == 1
        """,
    )
    project.run().assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("retriever", "sentence"),
    [
        ("lambda query, k: 1 / 0", "*ZeroDivisionError*"),
        ("lambda query, k: None", "*None*"),
        ("lambda query, k: 'doc-9'", "*doc-9*"),
        ("lambda query, k: {'doc-9'}", "*set*"),
        ("lambda query, k: [['doc-9', 'doc-4']]", "*list*"),
        ("lambda query, k: [(0.9, 'doc-9')]", "*"),
        ("lambda query, k: [('doc-9', 0.1), ('doc-4', 0.9)]", "*distance*"),
        ("lambda query, k: [('doc-9', float('nan'))]", "*"),
        ("lambda query, k: ['doc-9', 'doc-9']", "*doc-9*"),
        ("lambda query, k: {'hits': {'hits': []}, 'timed_out': True}", "*timed*"),
        ("lambda query, k: [True]", "*bool*"),
        ("lambda query, k: [3.5]", "*float*"),
    ],
)
def test_an_answer_that_cannot_be_read_fails_by_query_and_is_not_scored(project, retriever, sentence):
    use(project, retriever)
    result = project.run("--ir-baseline-update")
    result.assert_outcomes(failed=1)
    output = printed(result)
    assert "3 of 3 queries could not be retrieved: " in output
    assert "No mean was computed." in output
    for place in ("golden/faq.yaml:2: reset", "golden/faq.yaml:5: refund", "golden/faq.yaml:9: hours"):
        assert place.split(":")[0] in output
        assert place.split(": ")[1] in output
    result.stdout.fnmatch_lines([sentence])
    assert "Traceback" not in output
    assert "INTERNALERROR" not in output
    assert not project.baseline.exists()


def test_some_failing_queries_fail_the_test_by_name(project):
    project.write(
        "conftest.py",
        f"""
        import pytest
        ANSWERS = {ANSWERS!r}

        @pytest.fixture
        def retriever():
            def search(query, k):
                if query == "refund policy":
                    raise ConnectionError("engine went away")
                return ANSWERS[query]
            return search
        """,
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "1 of 3 queries could not be retrieved: raised ConnectionError: engine went away",
            "*No mean was computed.",
            "golden/faq.yaml:5: refund",
        ]
    )


def test_errors_are_of_the_queries_that_were_asked_and_count(project):
    use(project, "lambda query, k: 1 / 0 if query == 'opening hours' else ['doc-12']")
    path = project.path / "golden" / "faq.yaml"
    path.write_text(path.read_text() + "  - {query: known to be bad, relevant: doc-3, xfail: TICKET-7}\n")
    project.run("-v").stdout.fnmatch_lines(
        ["1 of 3 queries could not be retrieved: *", "golden/faq.yaml: 3 queries (and 1 xfail)"]
    )
    project.run("-v", "--ir-query", "hours").stdout.fnmatch_lines(["1 of 1 query could not be retrieved: *"])


def test_an_error_of_many_queries_is_told_once_with_all_their_places(project):
    use(project, "lambda query, k: 1 / 0 if 'e' in query else [None]")
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "3 of 3 queries could not be retrieved: raised ZeroDivisionError: division by",
            "  zero (conftest.py:*). No mean was computed.",
            "",
            "3 queries:",
            "  golden/faq.yaml:2: reset",
            "  golden/faq.yaml:5: refund",
            "  golden/faq.yaml:9: hours",
        ],
        consecutive=True,
    )
    failure = result.stdout.str().partition("short test summary")[0]  # which says all of it in CI
    assert failure.count("raised ZeroDivisionError") == 1


@pytest.mark.parametrize(
    ("act", "outcomes"),
    [
        ("pytest.skip('no engine')", {"skipped": 1}),
        ("pytest.xfail('known')", {"xfailed": 1}),
        ("pytest.fail('broken')", {"failed": 1}),
    ],
)
def test_pytests_own_outcomes_pass_through(project, act, outcomes):
    use(project, f"lambda query, k: {act}")
    project.run().assert_outcomes(**outcomes)


def test_pytest_exit_ends_the_session(project):
    use(project, "lambda query, k: pytest.exit('enough', returncode=7)")
    assert project.run_apart().ret == 7


def test_ctrl_c_and_system_exit_are_pytests(project):
    use(project, "interrupt", "def interrupt(query, k): raise KeyboardInterrupt")
    assert project.run_apart().ret == 2
    use(project, "leave", "def leave(query, k): raise SystemExit(5)")
    result = project.run_apart()
    result.assert_outcomes(failed=1)
    assert "INTERNALERROR" not in result.stdout.str()


def test_ids_of_another_kind_are_a_message_about_ids(project):
    use(project, "lambda query, k: ['doc_12', 'doc_9']")
    result = project.run("-v")
    result.assert_outcomes(failed=1)
    output = printed(result)
    assert (
        "None of the 2 returned ids occurs in the golden set; this is about ids, not about quality." in output
    )
    assert "Returned: 'doc_12', 'doc_9'." in output
    assert "Expected: 'doc-1', 'doc-12', 'doc-4' and 3 more." in output
    result.stdout.fnmatch_lines(["  mrr *0.0000 *≥0.5 *not checked"])


def test_ir_doc_id_turns_a_result_into_its_document(project):
    use(project, "lambda query, k: [{'meta': {'doc': 'doc-9'}}]")
    path = project.path / "conftest.py"
    path.write_text(
        path.read_text()
        + "\n\n@pytest.fixture\ndef ir_doc_id():\n    return lambda hit: hit['meta']['doc']\n"
    )
    project.test('ir_golden("golden/*.yaml")')
    project.run().assert_outcomes(passed=1)


def test_duplicates_can_be_collapsed(project):
    use(project, "lambda query, k: ['doc-9', 'doc-9', 'doc-12', 'doc-1']")
    project.run().assert_outcomes(failed=1)
    project.test('ir_golden("golden/*.yaml", duplicates="collapse")')
    project.run().assert_outcomes(passed=1)
    project.write("pytest.ini", "[pytest]\nir_duplicates = collapse\n")
    project.test('ir_golden("golden/*.yaml")')
    project.run().assert_outcomes(passed=1)


def test_what_the_index_lacks_is_named(project):
    path = project.path / "conftest.py"
    path.write_text(
        path.read_text() + "\n\n@pytest.fixture\ndef ir_corpus():\n    return {'doc-12', 'doc-9', 'doc-1'}\n"
    )
    result = project.run()
    output = printed(result)
    assert (
        "The index lacks 2 documents that the golden set judges relevant; no ranking can hold them: doc-4, doc-40."
        in output
    )


def test_a_retriever_that_ignores_k_for_less_is_noted(project):
    result = project.run()
    output = printed(result)
    assert "No query got the 10 results that were asked for; the longest answer has 3." in output


def test_endless_results_are_drawn_to_k(project):
    use(project, "lambda query, k: (f'doc-{n}' for n in __import__('itertools').count())")
    project.run("--tb=short").assert_outcomes(failed=1)


def test_a_run_stands_in_for_the_retriever(project):
    project.run("--ir-baseline-update").assert_outcomes(passed=1)
    use(
        project,
        "Run.load('ir_baselines/test_search/test_search_quality[faq].json')",
        "from pytest_irmetrics import Run",
    )
    project.run("--ir-baseline").assert_outcomes(passed=1)


def test_broken_golden_sets_fail_by_place_and_the_others_go_on(project):
    project.write("golden/broken.yaml", "queries:\n  - {query: a, relevent: [d1]}\n  - {query: b}\n")
    result = project.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*golden/broken.yaml:2:*relevent*relevant*", "*golden/broken.yaml:3:*"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_slow_query_is_named(project, workers):
    use(
        project,
        "slow",
        "import time\n\ndef slow(query, k):\n    time.sleep(3600 if query == 'refund policy' else 0)\n    return ['doc-12', 'doc-1']",
    )
    project.write("pytest.ini", "[pytest]\nir_timeout = 1\n")
    result = project.run_apart("-n", workers)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*within 1 s*", "golden/faq.yaml:5: refund"])


ASYNC_RETRIEVER = f"""
    import asyncio, pytest
    ANSWERS = {ANSWERS!r}

    class Client:
        def __init__(self):
            self.loop = None

        async def search(self, query, k):
            loop = asyncio.get_running_loop()
            assert self.loop in (None, loop), "another event loop"
            self.loop = loop
            await asyncio.sleep(0)
            return ANSWERS[query][:k]

    @pytest.fixture(scope="session")
    def retriever():
        return Client().search
"""


def test_sync_tests_share_one_event_loop_for_the_session(project):
    project.write("conftest.py", ASYNC_RETRIEVER)
    project.write("golden/other.yaml", "queries: [{query: refund policy, relevant: [doc-9]}]\n")
    project.run().assert_outcomes(passed=2)


def test_a_run_of_pytest_within_a_test_leaves_the_event_loop_of_the_session_open(project):
    project.write("conftest.py", 'pytest_plugins = ["pytester"]\n' + textwrap.dedent(ASYNC_RETRIEVER))
    project.write(
        "test_search.py",
        """
        import pytest

        @pytest.mark.ir_golden("golden/faq.yaml")
        def test_before(irmetrics):
            irmetrics.check()

        def test_within(pytester):
            (pytester.path / "faq.yaml").write_text("queries: [{query: refund policy, relevant: doc-9}]")
            pytester.makepyfile(
                '''
                async def search(query, k):
                    return ["doc-9"]

                def test_search(irmetrics):
                    irmetrics.check(golden="faq.yaml", retriever=search)
                '''
            )
            pytester.runpytest_inprocess("-p", "pytest_irmetrics.plugin").assert_outcomes(passed=1)

        @pytest.mark.ir_golden("golden/faq.yaml")
        def test_z_after(irmetrics):
            irmetrics.check()
        """,
    )
    project.run_apart().assert_outcomes(passed=3)


@pytest.mark.parametrize("mark", ["pytest.mark.asyncio", "pytest.mark.anyio"])
def test_an_async_test_awaits_acheck(project, mark):
    project.write("conftest.py", ASYNC_RETRIEVER)
    path = project.path / "conftest.py"
    path.write_text(path.read_text() + "\n\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n")
    project.write(
        "test_search.py",
        f"""
        import pytest

        @{mark}
        @pytest.mark.ir_golden("golden/*.yaml")
        @pytest.mark.ir_threshold("mrr", 0.5)
        async def test_search(irmetrics):
            evaluation = await irmetrics.acheck()
            assert evaluation["mrr"] > 0.5
        """,
    )
    project.run_apart().assert_outcomes(passed=1)


def test_an_acheck_that_is_not_awaited_fails(project):
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("mrr", 0.5)'], "irmetrics.acheck()")
    result = project.run("-W", "ignore")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["irmetrics.acheck() was called but not awaited*"])


def test_an_async_test_that_no_plugin_runs_fails(project):
    project.write(
        "test_search.py",
        """
        import pytest

        @pytest.mark.ir_golden("golden/*.yaml")
        @pytest.mark.ir_threshold("mrr", 0.5)
        async def test_search(irmetrics):
            await irmetrics.acheck()
        """,
    )
    result = project.run_apart("-W", "ignore")
    result.assert_outcomes(failed=1)


def test_check_in_a_running_loop_names_acheck(project):
    project.write("conftest.py", ASYNC_RETRIEVER)
    project.write(
        "test_search.py",
        """
        import pytest

        @pytest.mark.asyncio
        @pytest.mark.ir_golden("golden/*.yaml")
        async def test_search(irmetrics):
            irmetrics.check()
        """,
    )
    result = project.run_apart("-W", "ignore")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*acheck*"])


def test_repeats_are_averaged(project):
    use(
        project,
        "search",
        "calls = []\n\ndef search(query, k):\n    calls.append(query)\n    return ['doc-12', 'doc-9', 'doc-1'] if calls.count(query) == 1 else []",
    )
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("hit@10", 0.99)'])
    result = project.run("--ir-repeat", "2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["hit@10 is 0.5000, *"])


def test_the_evaluated_hook_sees_every_evaluation(project):
    path = project.path / "conftest.py"
    path.write_text(
        path.read_text()
        + "\n\ndef pytest_irmetrics_evaluated(item, evaluation):\n    print(f'SEEN {item.name} {evaluation[\"mrr\"]:.4f}')\n"
    )
    project.run("-s").stdout.fnmatch_lines(["*SEEN test_search_quality?faq? 0.8333*"])
