from __future__ import annotations

import sys

import pytest

from tests.integration.engines.pages import ROOT, Engine
from tests.integration.engines.servers import Relay, opensearch, postgresql


@pytest.fixture(scope="session")
def documents():
    """What the example project searches, without the rules that ruff has removed."""
    sys.path.insert(0, str(ROOT / "example_project"))
    try:
        import search
    finally:
        sys.path.pop(0)
    return [
        {
            "id": rule.code,
            "title": f"{rule.code} {rule.name.replace('-', ' ')}: {rule.message}",
            "body": rule.explanation,
        }
        for rule in search.load_rules()
        if not rule.removed
    ]


@pytest.fixture(scope="session")
def postgresql_url():
    with postgresql() as url:
        yield url


@pytest.fixture(scope="session")
def opensearch_url():
    with opensearch() as url:
        yield url


@pytest.fixture
def relay(opensearch_url):
    with Relay(opensearch_url) as relay:
        yield relay


@pytest.fixture
def engine(tmp_path, documents, request):
    """Make the project of a snippet: engine("faiss")."""

    def make(name):
        environment = {}
        if name == "postgresql":
            environment["DATABASE_URL"] = request.getfixturevalue("postgresql_url")
        if name == "opensearch":
            environment["OPENSEARCH_URL"] = request.getfixturevalue("relay").url
        return Engine(tmp_path, name, documents, environment)

    return make
