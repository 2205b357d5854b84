"""What docs/howto/how-many-queries.md says about the size of a set is what `check --tolerance` says of the example project."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from pytest_irmetrics import cli
from tests.expected import RENEWING
from tests.integration.test_example_project import EXAMPLE, run
from tests.pages import DOCS

PAGE = DOCS / "howto" / "how-many-queries.md"
TABLE = re.compile(r"(?<=\|---\|---\|---\|---\|\n)(?:\|.*\n)*")
BASELINE = EXAMPLE / "ir_baselines" / "test_search" / "test_search_quality[rules].json"


@pytest.fixture(scope="module")
def unstemmed(tmp_path_factory):
    path = tmp_path_factory.mktemp("unstemmed") / "run.json"
    run(f"--ir-report=json:{path}", RULES_TOKENIZER="unicode61")
    return path


def rows(folder, unstemmed, capsys):
    golden = yaml.safe_load((EXAMPLE / "golden" / "rules.yaml").read_text(encoding="utf-8"))
    queries = [query for query in golden["queries"] if "relevant" in query and "xfail" not in query]
    for count in (10, 20, 50, len(queries)):
        path = folder / f"rules{count}.yaml"
        some = [queries[place * len(queries) // count] for place in range(count)]
        path.write_text(yaml.safe_dump({"queries": some}, sort_keys=False), encoding="utf-8")
        command = [
            "check",
            "--tolerance",
            str(path),
            "--run",
            str(BASELINE),
            "--run",
            str(unstemmed),
            "--json",
        ]
        assert cli.main(command) == 0
        (told,) = (row for row in json.loads(capsys.readouterr().out) if row["metric"] == "ndcg@10")
        weighs, fails = f"{1 / count:.2g}", f"{told['share_failing']:.0%}".replace("%", " %")
        yield f"| {count} | {weighs} | {fails} | {told['once_in_20']} |\n"


def test_the_table_is_what_the_tool_says(tmp_path, unstemmed, capsys):
    table = "".join(rows(tmp_path, unstemmed, capsys))
    page = PAGE.read_text(encoding="utf-8")
    if RENEWING:
        page = TABLE.sub(table, page, count=1)
        PAGE.write_text(page, encoding="utf-8")
    assert TABLE.search(page)[0] == table


def test_what_the_page_concludes_is_in_the_table():
    table = [
        row.strip("| \n").split(" | ")
        for row in TABLE.search(PAGE.read_text(encoding="utf-8"))[0].splitlines()
    ]
    rows = {int(queries): (float(weighs), share, float(limit)) for queries, weighs, share, limit in table}
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert "with 20 queries a `max_drop` of 0.01 fails 4 in 10" in page
    assert rows[20][1] == "40 %"
    assert rows[20][2] > rows[20][0]  # one broken query passes
    assert "With 110 queries that limit is as much as three broken queries" in page
    assert round(rows[110][2] / rows[110][0]) == 3
