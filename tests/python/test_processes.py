"""Forks, other threads, and the end of the program."""

import multiprocessing
import os
import subprocess
import sys
import textwrap

import pytest

import tessera

PROMPT = "61 + 93 ="


def in_child(act):
    """What a forked child makes of it, within a minute."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def work():
        try:
            queue.put(act())
        except tessera.Error as refusal:
            queue.put(f"refused: {refusal.problem}")

    child = context.Process(target=work)
    child.start()
    try:
        return queue.get(timeout=60)
    finally:
        child.join(60)
        assert child.exitcode == 0


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory):
    out = tmp_path_factory.mktemp("two") / "two.tsr"
    tessera.compile(tessera.shipped_model(), out, workers=2, context=128, search_effort=0)
    return tessera.load(out)


def test_a_child_computes_with_threads_of_its_own(two_workers):
    def ids():
        return two_workers.generate(PROMPT, max_tokens=5, past_end=True).ids

    before = ids()
    assert in_child(ids) == before
    assert in_child(lambda: in_child(ids)) == before
    assert in_child(lambda: two_workers.encode(PROMPT)) == two_workers.encode(PROMPT)
    assert ids() == before


def test_an_engine_begins_anew_in_a_child(engine):
    def ids():
        return engine.generate([PROMPT, "1 + 1 ="], max_tokens=5)[0].ids

    before = ids()
    assert in_child(ids) == before
    assert ids() == before


def test_what_a_parent_has_begun_is_refused_in_a_child(model, engine):
    with model.stream(PROMPT, max_tokens=200, past_end=True) as stream:
        next(stream)
        assert "fork" in in_child(lambda: next(stream))
        assert "fork" in in_child(stream.result)
        # The model itself is free there, though it is busy here.
        assert in_child(lambda: model.generate(PROMPT, max_tokens=1).ids)
        in_child(stream.close)
        assert next(stream)
    request = engine.submit(PROMPT, max_tokens=20, past_end=True)
    assert "fork" in in_child(request.result)
    in_child(request.cancel)
    assert len(request.result().ids) == 20


def run(artefact, program):
    source = "import sys, threading, time, tessera\n" + textwrap.dedent(program)
    return subprocess.run([sys.executable, "-c", source, str(artefact)], capture_output=True, text=True, timeout=120, env=os.environ)


DAEMONS = {
    "generate": """
        model = tessera.load(sys.argv[1])
        act = lambda: model.generate("1", max_tokens=200, past_end=True)""",
    "stream": """
        model = tessera.load(sys.argv[1])
        act = lambda: list(model.stream("1", max_tokens=200, past_end=True))""",
    "logits": """
        model = tessera.load(sys.argv[1])
        act = lambda: model.logits(list(range(100)))""",
    "engine": """
        engine = tessera.Engine(sys.argv[1], sequences=2)
        act = lambda: engine.generate(["1", "2"], max_tokens=50, past_end=True)""",
}


@pytest.mark.parametrize("kind", DAEMONS)
def test_a_daemon_thread_does_not_disturb_the_end(artefact, kind):
    program = textwrap.dedent(DAEMONS[kind]) + textwrap.dedent("""
        def work():
            while True:
                act()
        for _ in range(2 if "engine" in globals() else 1):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
    """)
    ended = run(artefact, program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("rest", [
    "stream = model.stream('1', max_tokens=200, past_end=True); next(stream)",
    "import atexit; atexit.register(lambda: print(len(model.generate('1', max_tokens=3, past_end=True).ids)))",
    "stream = model.stream('1', max_tokens=200, past_end=True); next(stream); del model",
    "sys.exit(0)",
])
def test_a_program_ends_with_things_open(artefact, rest):
    ended = run(artefact, f"model = tessera.load(sys.argv[1])\n{rest}")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout in ("", "3\n")


def test_an_engine_lives_as_long_as_its_requests(artefact):
    request = tessera.Engine(artefact, sequences=1, context=128).submit(PROMPT, max_tokens=30, past_end=True)
    assert len(request.result().ids) == 30


def test_models_are_not_pickled(model, engine):
    """A new process (spawn) opens its own."""
    import pickle

    for one in (model, engine):
        with pytest.raises(TypeError):
            pickle.dumps(one)
