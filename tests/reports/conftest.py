from __future__ import annotations

import pytest

from tests.plugin.conftest import make_ranking_worse

from .rich_session import RichProject


@pytest.fixture(scope="session")
def rich(tmp_path_factory):
    """The project of the rich session, its baselines stored, and run once with every report file."""
    project = RichProject(tmp_path_factory.mktemp("rich"))
    files = [f"--ir-report=r.{suffix}" for suffix in ("html", "md", "json")]
    project.output = project.pytest(
        "--ir-baseline", "--junitxml=junit.xml", *files, GITHUB_ACTIONS="true", GITHUB_SHA="0" * 40
    )
    return project


@pytest.fixture
def worse(stored):
    """Give a project whose search lost a document of one query since its baseline was stored."""
    make_ranking_worse(stored)
    return stored
