"""The default fixtures that users override: `retriever`, `ir_doc_id`, `ir_doc_title`, `ir_corpus` and `ir_executor`."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


class MissingRetriever:
    """What the plugin's own fixture `retriever` returns: `message` says what to write."""

    message = (
        "There is no fixture named retriever. Write one in conftest.py that returns your search:\n\n"
        "    import pytest\n\n"
        '    @pytest.fixture(scope="session")\n'
        "    def retriever():\n"
        "        return lambda query, k: my_search(query, size=k)   # ids, best first\n\n"
        "or pass one: irmetrics.check(retriever=my_search)."
    )


@pytest.fixture(scope="session")
def retriever() -> object:
    """Your search: override it with a fixture that returns a function of (query, k), which returns ids, best first."""
    return MissingRetriever()


@pytest.fixture(scope="session")
def ir_doc_id() -> None:
    """Override it with a function that turns one returned item, such as a chunk, into its document's id."""


@pytest.fixture(scope="session")
def ir_doc_title() -> None:
    """Override it with a function or a mapping from a document's id to its title, which reports show beside the id."""


@pytest.fixture(scope="session")
def ir_corpus() -> None:
    """Override it with the ids of your index, as anything that supports `in`; judged documents that it lacks are named."""


@pytest.fixture(scope="session")
def ir_executor() -> None:
    """Override it with a `concurrent.futures.Executor`, in whose threads or processes the queries then run."""


_FIXTURES = {
    "retriever": retriever,
    "ir_doc_id": ir_doc_id,
    "ir_doc_title": ir_doc_title,
    "ir_corpus": ir_corpus,
    "ir_executor": ir_executor,
}


def default_fixtures(manager: pytest.PytestPluginManager) -> ModuleType:
    """Return a plugin with those default fixtures that no other plugin defines.

    Of two plugins' fixtures with one name the plugin that was loaded last wins, and ``-p`` loads before any that is
    installed. A fixture in a conftest.py or a test file wins over both.
    """
    offered = {name for plugin in manager.get_plugins() for name in _fixtures_of(plugin)}
    plugin = ModuleType("pytest_irmetrics.plugin.defaults", __doc__)
    for name, fixture in _FIXTURES.items():
        if name not in offered:
            setattr(plugin, name, fixture)
    return plugin


def _fixtures_of(plugin: Any) -> Iterator[str]:
    """Yield the names of default fixtures that a plugin defines; those of a conftest.py hold for its folder alone."""
    if str(getattr(plugin, "__dict__", {}).get("__file__", "")).endswith("conftest.py"):
        return
    for holder in (plugin, *type(plugin).__mro__):
        for attribute, value in getattr(holder, "__dict__", {}).items():
            # From pytest 8.4 on a fixture is an object that knows the name it was given; before, a function.
            if type(value) is type(retriever):
                name = getattr(value, "name", attribute)
                if name in _FIXTURES:
                    yield name
