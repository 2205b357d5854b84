"""Which metrics are reported and gated: the setting ir_metrics, the hook for one's own, depths and latencies."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import ASYNCIO_SETTING, RETRIEVER, text_of

METRICS = """
    def pytest_irmetrics_metrics(config):
        return {{{name!r}: lambda query, ranking, k: 1.0}}
"""


@pytest.mark.parametrize(
    "written",
    [
        "map(rel=2,norm=min)@10 mrr",
        "map(rel=2, norm=min)@10, mrr",
        "mrr,map(norm=min, rel=2)@10",
        "\n    map(norm=min,\trel=2)@10\n    mrr",
    ],
)
def test_a_metric_of_two_parameters_is_one_metric_however_the_list_is_parted(project, written):
    project.write("pytest.ini", f"[pytest]\nir_metrics = {written}\n")
    project.test('ir_golden("golden/*.yaml")')
    result = project.run("-v")
    result.assert_outcomes(passed=1)
    rows = [line.split()[0] for line in result.outlines if line.startswith("  ") and " 3 " in line]
    assert sorted(rows) == ["judged@10", "map(norm=min,rel=2)@10", "mrr"]


@pytest.mark.parametrize("name", ["mrr", "MRR", "P", "nDCG@10", "no_answer", "latency_p50", "recip_rank"])
def test_a_hook_cannot_take_the_name_of_a_built_in_metric(project, name):
    project.write("conftest.py", RETRIEVER + METRICS.format(name=name))
    result = project.run()
    assert result.ret != 0
    assert f"pytest_irmetrics_metrics: the name {name!r} is already taken." in text_of(result)


def test_two_hooks_cannot_give_one_name(project):
    project.write("conftest.py", RETRIEVER + METRICS.format(name="fresh"))
    project.write("plug.py", METRICS.format(name="fresh"))
    project.pytester.syspathinsert()
    result = project.run("-p", "plug")
    assert result.ret != 0
    assert "pytest_irmetrics_metrics: the name 'fresh' is already taken." in text_of(result)


def test_a_retriever_may_be_asked_for_a_single_result(project):
    project.test(['ir_golden("golden/*.yaml", depth=1)', 'ir_threshold("precision@1", 0.6)'])
    project.retrieve("(_ for _ in ()).throw(AssertionError(k)) if k != 1 else answers[query][:1]")
    result = project.run("-v", "--ir-baseline-update")
    result.assert_outcomes(passed=1)
    text_of(result)
    assert '"depth": 1' in project.baseline.read_text()


def test_a_latency_is_held_against_the_clock(project):
    project.retrieve("__import__('time').sleep(0.02) or answers[query][:k]")
    project.test(['ir_golden("golden/*.yaml")', 'ir_threshold("latency_p50", max=19.9)'])
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["latency_p50 is * ms, * ms above the threshold*"])


class TestAevaluate:
    """`await irmetrics.aevaluate()`, which only evaluates."""

    @pytest.fixture
    def awaited(self, project):
        project.write("pytest.ini", f"[pytest]\n{ASYNCIO_SETTING}")

        def awaited(body, retriever="lambda query, k: answers.get(query, [])[:k]", **options):
            project.write(
                "conftest.py", RETRIEVER.replace("lambda query, k: answers.get(query, [])[:k]", retriever)
            )
            project.write(
                "test_search.py",
                "import pytest\n\n@pytest.mark.asyncio\n@pytest.mark.ir_golden('golden/*.yaml')\n"
                f"async def test_search_quality(irmetrics):\n    {body}\n",
            )
            return project.run(*options.get("arguments", ()))

        return awaited

    def test_scores_and_gates_nothing(self, awaited):
        result = awaited("assert round((await irmetrics.aevaluate())['mrr'], 4) == 0.8333")
        result.assert_outcomes(passed=1)

    def test_asks_an_async_retriever_on_the_running_loop(self, awaited):
        result = awaited(
            "loop = __import__('asyncio').get_running_loop()\n"
            "    async def search(query, k):\n"
            "        assert __import__('asyncio').get_running_loop() is loop\n"
            "        return ['doc-9', 'doc-1']\n"
            "    found = await irmetrics.aevaluate(retriever=search)\n"
            "    assert found.scores['mrr'] == {'reset': 0.0, 'refund': 1.0, 'hours': 0.5}, found.scores"
        )
        result.assert_outcomes(passed=1)

    def test_takes_another_golden_set(self, awaited, project):
        project.write("other.yaml", "queries: [{query: opening hours, relevant: [doc-2]}]\n")
        result = awaited("assert (await irmetrics.aevaluate(golden='other.yaml'))['mrr'] == 1")
        result.assert_outcomes(passed=1)

    def test_fails_where_a_query_fails(self, awaited):
        result = awaited("await irmetrics.aevaluate()", "lambda query, k: 1 / 0")
        result.assert_outcomes(failed=1)
        assert "ZeroDivisionError" in text_of(result)

    def test_says_in_words_what_it_cannot_do(self, awaited):
        result = awaited("await irmetrics.aevaluate(golden='missing.yaml')")
        result.assert_outcomes(failed=1)
        assert "missing.yaml:1:1: There is no such file. Check the path." in text_of(result)

    def test_does_not_stand_in_for_a_check(self, awaited):
        awaited("await irmetrics.acheck()", arguments=["--ir-baseline-update"]).assert_outcomes(passed=1)
        result = awaited("await irmetrics.aevaluate()", arguments=["--ir-baseline"])
        result.assert_outcomes(failed=1)
        assert "never called irmetrics.check()" in text_of(result)


def test_the_settings_are_what_the_interface_says_unless_told_otherwise(project):
    names = (
        "ir_baseline ir_baseline_dir ir_max_drop ir_depth ir_duplicates ir_timeout ir_concurrency ir_repeat"
    )
    told = "['false', 'ir_baselines', '0.01', '10', 'error', '', '1', '1']"
    project.write(
        "test_search.py",
        f"def test_it(request):\n    assert [str(request.config.getini(name)) for name in {names.split()}] == {told}\n",
    )
    project.run().assert_outcomes(passed=1)
