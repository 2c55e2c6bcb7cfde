"""Many texts at one time."""

import numpy as np
import pytest

import tessera

PROMPTS = ["61 + 93 =", "12 - 5 =", "sort 3 1 2", "7 + 8 =", "99 + 1 =", "count 5"]


def test_texts_do_not_depend_on_each_other(engine):
    alone = [engine.generate([prompt], max_tokens=12)[0] for prompt in PROMPTS]
    together = engine.generate(PROMPTS, max_tokens=12)
    assert [one.ids for one in together] == [one.ids for one in alone]
    assert [one.text for one in together] == [one.text for one in alone]
    assert alone[0].text.strip().startswith("154")
    assert engine.sequences == 4 and engine.context == 128 and engine.memory_bytes > 0


def test_a_request_streams(engine):
    request = engine.submit(PROMPTS[0], max_tokens=12)
    text = "".join(request)
    assert text == request.result().text


def interrupted(engine, end):
    """How many of up to fifty texts were interrupted when `end` ended them; a text may be whole before it is ended, so
    that the first interrupted one is enough."""
    before = engine.statistics()["interrupted"]
    for _ in range(50):
        end(engine.submit(PROMPTS[0], max_tokens=100, past_end=True))
        engine.generate(PROMPTS[:1], max_tokens=1)
        if engine.statistics()["interrupted"] > before:
            break
    return engine.statistics()["interrupted"] - before


def test_a_request_can_be_cancelled(engine):
    reasons = []

    def cancel(request):
        next(request)
        request.cancel()
        reasons.append(request.result().reason)

    assert interrupted(engine, cancel) == 1
    assert reasons[-1] == "interrupted"


def test_a_request_that_nobody_wants_is_cancelled(engine):
    assert interrupted(engine, lambda request: None) == 1


def test_too_many_wait(artefact):
    small = tessera.Engine(artefact, sequences=1, waiting=1, context=128)
    kept = [small.submit(PROMPTS[0], max_tokens=100, past_end=True) for _ in range(2)]
    with pytest.raises(tessera.Error, match="too many wait"):
        small.submit(PROMPTS[0])
    assert all(len(one.result().ids) == 100 for one in kept)


def test_wrong_requests(engine):
    with pytest.raises(tessera.Error, match="context"):
        engine.submit([1] * 129)
    with pytest.raises(tessera.Error, match="vocabulary"):
        engine.submit([10**6])
    with pytest.raises(tessera.Error, match="empty"):
        engine.submit([])


def test_logits_and_statistics_are_data(engine):
    statistics = engine.statistics()
    assert statistics["pages"] > 0 and statistics["steps"] > 0
    assert np.isfinite(statistics["step_seconds"])
