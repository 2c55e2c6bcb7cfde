"""One compilation for all tests: the checkpoint that ships, with embeddings, in a cache of its own."""

import os

import pytest

import tessera


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    return folder / "tessera"


@pytest.fixture(scope="session")
def passes():
    return []


@pytest.fixture(scope="session")
def artefact(cache, tmp_path_factory, passes):
    """Compiled by compile() itself."""
    out = tmp_path_factory.mktemp("artefact") / "tiny.tsr"
    report = tessera.compile(
        tessera.shipped_model(), out, embeddings=True, workers=1, context=256, search_effort=0, on_pass=passes.append
    )
    assert [one.name for one in report.passes] == passes
    assert report.artefact_bytes == out.stat().st_size
    assert report.code_bytes > 0 and not report.code_was_cached
    return out


@pytest.fixture(scope="session")
def model(artefact):
    return tessera.load(artefact)


@pytest.fixture(scope="session")
def engine(artefact):
    return tessera.Engine(artefact, sequences=4, context=128)
