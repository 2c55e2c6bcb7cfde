"""Loading, text, streams and logits."""

import signal
import threading
import time

import numpy as np
import pytest

import tessera

PROMPT = "61 + 93 ="


def test_a_model_says_what_it_is(model, artefact):
    assert model.name == "tessera-tiny"
    assert model.artefact == str(artefact)
    assert model.workers == 1 and model.context == 256 and model.vocabulary > 0
    assert model.has_tokenizer and model.memory_bytes > 0 and model.warnings == []
    assert "tessera-tiny, policy default" in repr(model)


def test_ids_and_text(model):
    ids = model.encode(PROMPT)
    assert ids and all(isinstance(one, int) for one in ids)
    assert model.decode(ids) == PROMPT
    assert model.decode_bytes(ids) == PROMPT.encode()


def test_a_text_comes_whole_and_in_pieces(model):
    whole = model.generate(PROMPT, max_tokens=16)
    assert whole.text.strip().startswith("154")
    assert whole.text == model.decode(whole.ids)
    assert whole.reason in ("max_tokens", "stop_id")
    assert whole.prompt_tokens == len(model.encode(PROMPT)) and whole.reused_tokens == 0
    assert whole.prompt_seconds > 0 and whole.decode_seconds > 0
    assert model.generate(model.encode(PROMPT), max_tokens=16).ids == whole.ids
    with model.stream(PROMPT, max_tokens=16) as stream:
        assert "".join(stream) == whole.text
        assert stream.result().ids == whole.ids


def test_options_reach_the_library(model):
    greedy = model.generate(PROMPT, max_tokens=4, past_end=True)
    assert len(greedy.ids) == 4 and greedy.reason == "max_tokens"
    never = model.generate(PROMPT, max_tokens=4, logit_bias={greedy.ids[0]: -np.inf}, past_end=True)
    assert never.ids[0] != greedy.ids[0]
    drawn = [model.generate(PROMPT, max_tokens=8, temperature=5.0, seed=seed, past_end=True).ids for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert model.generate(PROMPT, stop_ids=[greedy.ids[0]]).reason == "stop_id"
    stopped = model.generate(PROMPT, stop=["5"])
    assert stopped.reason == "stop_string" and "5" not in stopped.text
    assert model.generate(PROMPT, max_tokens=1, reuse_prefix=True).reused_tokens == 0
    assert model.generate(PROMPT, max_tokens=1, reuse_prefix=True).reused_tokens > 0


def test_a_stream_that_is_closed_ends(model):
    stream = model.stream(PROMPT, max_tokens=240, past_end=True)
    next(stream)
    with pytest.raises(tessera.Error, match="is computing another text"):
        model.generate(PROMPT)
    stream.close()
    assert stream.result().reason == "interrupted"
    assert model.generate(PROMPT, max_tokens=1).ids
    with pytest.raises(tessera.Error, match="cannot continue an empty prompt"):
        list(model.stream([]))
    assert model.generate(PROMPT, max_tokens=1).ids


def test_logits(model):
    ids = model.encode(PROMPT)
    rows = model.logits(PROMPT)
    assert rows.shape == (len(ids), model.vocabulary) and rows.dtype == np.float32
    assert np.array_equal(rows, model.logits(ids))
    assert model.generate(PROMPT, max_tokens=1).ids == [int(rows[-1].argmax())]


def test_errors_have_parts(model, tmp_path):
    with pytest.raises(tessera.Error) as caught:
        model.generate(PROMPT, temperature=-1.0)
    assert caught.value.is_usage and "temperature" in str(caught.value)
    with pytest.raises(tessera.Error) as caught:
        tessera.load(tmp_path / "missing.tsr")
    assert caught.value.where == str(tmp_path / "missing.tsr")
    assert caught.value.problem == "does not exist" and "GGUF" in caught.value.advice
    assert caught.value.entity == "" and not caught.value.is_usage
    with pytest.raises(tessera.Error, match="vocabulary"):
        model.logits([model.vocabulary])
    with pytest.raises(TypeError, match="unknown option: temprature"):
        model.generate(PROMPT, temprature=1.0)
    with pytest.raises(TypeError, match="max_tokens cannot be 'x'"):
        model.generate(PROMPT, max_tokens="x")
    with pytest.raises(tessera.Error, match="no chat template"):
        model.generate([{"role": "user", "content": "Hello!"}])


def test_a_template_writes_a_conversation(model):
    messages = [{"role": "user", "content": "1 + 1 ="}]
    ids = model.encode_chat(messages, chat_template="{{ messages[0].content }}")
    assert model.decode(ids) == "1 + 1 ="


def interrupt_soon():
    """Ctrl-C in a while, for this process alone."""
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()


@pytest.mark.parametrize("way", ["generate", "stream", "logits"])
def test_ctrl_c_ends_a_computation(model, way):
    # Long enough that it cannot be over before: again and again.
    def compute():
        while True:
            if way == "generate":
                model.generate(PROMPT, max_tokens=240, past_end=True)
            elif way == "stream":
                list(model.stream(PROMPT, max_tokens=240, past_end=True))
            else:
                model.logits(list(range(50)) * 5)

    start = time.monotonic()
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        compute()
    assert time.monotonic() - start < 20
    assert model.generate(PROMPT, max_tokens=1).ids


def test_other_threads_run_meanwhile(model):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    model.generate(PROMPT, max_tokens=240, past_end=True)
    during = counted - before
    done.set()
    thread.join()
    assert during > 0
