import pytest
from search import from_environment


@pytest.fixture(scope="session")
def engine():
    engine = from_environment()
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def retriever(engine):
    return engine.search


@pytest.fixture(scope="session")
def ir_corpus(engine):
    return engine.codes


@pytest.fixture(scope="session")
def ir_doc_title(engine):
    return engine.names
