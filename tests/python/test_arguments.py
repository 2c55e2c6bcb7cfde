"""What a program gives is used as it is, or refused: nothing is dropped or cut to fit."""

import collections
import decimal
import enum
import fractions
import types

import numpy as np
import pytest

import tessera

PROMPT = "61 + 93 ="
NO_INTEGERS = [np.float32(2), np.float64(2), 2.0, decimal.Decimal(2), fractions.Fraction(2), "2", True, np.True_, 2 + 0j,
               np.array([2, 3]), np.array(2.0), [2]]


class Index:
    """Of no library that we know."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


@pytest.mark.parametrize("wrong", NO_INTEGERS)
@pytest.mark.parametrize("option", ["max_tokens", "top_k", "seed", "repetition_window"])
def test_counts_are_integers(model, option, wrong):
    with pytest.raises(TypeError, match=option):
        model.generate(PROMPT, **{"max_tokens": 1, option: wrong})


@pytest.mark.parametrize("right", [np.int8(3), np.uint64(3), np.array(3), Index(3), enum.IntEnum("E", {"THREE": 3}).THREE])
def test_integers_of_any_library_count(model, right):
    assert len(model.generate(PROMPT, max_tokens=right, past_end=True).ids) == 3


@pytest.mark.parametrize("wrong", [np.array([1.7, 2.2], np.float32), [1, 2.0], [np.float32(1)], np.array([[1, 2]]), np.array(1),
                                   np.array([True, False]), [True], ["1"], b"12", bytearray(b"12"), memoryview(b"12"), 5,
                                   {"a": 1}, {1: 2}, [decimal.Decimal(1)], [fractions.Fraction(1)], [None], np.array([1 + 2j])])
def test_ids_are_integers(model, engine, wrong):
    for act in (model.logits, model.decode, model.generate, model.stream, engine.submit):
        with pytest.raises(TypeError):
            act(wrong)


def test_ids_come_in_any_form(model):
    ids = model.encode(PROMPT)
    expected = model.logits(ids)
    forms = [tuple(ids), np.array(ids), np.array(ids, np.uint16), collections.deque(ids), (one for one in ids), range(ids[0], ids[0] + 1)]
    for form in forms:
        count = 1 if isinstance(form, range) else len(ids)
        assert np.array_equal(model.logits(form), expected[:count])
    for wrong in (-1, 2**40, model.vocabulary):
        with pytest.raises(tessera.Error, match="vocabulary"):
            model.logits([wrong])


def test_numbers_are_numbers(model):
    assert model.generate(PROMPT, max_tokens=1, temperature=np.float32(0), top_p=decimal.Decimal("0.5"), min_p=0).ids
    for wrong in ("0.5", True, 1j, np.complex64(1 + 2j), [0.5]):
        with pytest.raises(TypeError, match="temperature"):
            model.generate(PROMPT, temperature=wrong)
    for wrong in (1, "yes", [], np.array([True, False])):
        with pytest.raises(TypeError, match="past_end"):
            model.generate(PROMPT, past_end=wrong)
    with pytest.raises(TypeError, match="logit_bias"):
        model.generate(PROMPT, logit_bias={1.5: 1.0})
    with pytest.raises(TypeError, match="stop_ids"):
        model.generate(PROMPT, stop_ids=np.array([1.5], np.float32))


def test_settings_are_integers(artefact):
    for name in ("context", "chunk"):
        with pytest.raises(TypeError, match=name):
            tessera.load(artefact, **{name: np.float32(100.7)})
    with pytest.raises(TypeError, match="sequences"):
        tessera.Engine(artefact, sequences=2.5)


def test_one_text_is_one_text(model, engine):
    count = len(model.encode(PROMPT))
    for one in (PROMPT, np.str_(PROMPT), model.encode(PROMPT), np.array(model.encode(PROMPT))):
        assert [text.prompt_tokens + text.reused_tokens for text in engine.generate(one, max_tokens=1)] == [count]
    assert len(engine.generate([PROMPT, "1"], max_tokens=1)) == 2
    assert len(engine.generate((text for text in (PROMPT, "1")), max_tokens=1)) == 2
    assert engine.generate([], max_tokens=1) == []
    assert model.embed(PROMPT).shape == engine.embed(PROMPT).shape == (model.embedding_width,)
    assert model.embed(iter([PROMPT])).shape == engine.embed((PROMPT,)).shape == (1, model.embedding_width)
    assert model.generate(PROMPT, stop="5").text == model.generate(PROMPT, stop=["5"]).text
    for act in (model.embed, engine.embed, engine.generate):
        for wrong in (b"12", [b"12"], 3, {"a": "b"}, [None]):
            with pytest.raises(TypeError):
                act(wrong)
    with pytest.raises(TypeError):
        engine.submit([PROMPT, "1"])
    with pytest.raises(TypeError):
        model.encode(b"12")


def test_minus_one_is_no_limit(model, engine):
    whole = model.generate(PROMPT, max_tokens=-1, past_end=True)
    assert whole.reason == "context"
    assert engine.generate(PROMPT, max_tokens=-1, past_end=True)[0].reason == "context"
    assert "".join(model.stream(PROMPT, max_tokens=-1)) == model.generate(PROMPT, max_tokens=200).text
    assert model.generate(PROMPT, max_tokens=0).ids == []
    with pytest.raises(tessera.Error, match="max_tokens"):
        model.generate(PROMPT, max_tokens=-2)
    with pytest.raises(TypeError, match="max_tokens"):
        model.generate(PROMPT, max_tokens=-1.0)


TEMPLATE = (
    "{% for m in messages %}[{{ m.role }}{% if m.name %}:{{ m.name }}{% endif %}]{{ m.reasoning_content or '' }}"
    "{% if m.content is string %}{{ m.content }}{% elif m.content %}{% for p in m.content %}({{ p.type }}={{ p.text }})"
    "{% endfor %}{% elif m.content is none %}-{% else %}?{% endif %}"
    "{% for c in m.tool_calls or [] %}<{{ c.function.name }} {{ c.function.arguments | tojson }}>{% endfor %}{% endfor %}"
)


def written(model, messages):
    return model.decode(model.encode_chat(messages, begins_answer=False, chat_template=TEMPLATE))


def test_all_fields_of_messages_reach_the_template(model):
    call = {"type": "function", "function": {"name": "w", "arguments": {"at": ["x", 1, 2.5, None, True]}}}
    messages = [
        {"role": "user", "content": "w?", "name": "ann"},
        {"role": "assistant", "content": None, "reasoning_content": "r", "tool_calls": [call]},
        types.MappingProxyType({"role": "tool", "content": "3"}),
        {"role": "user", "content": ({"type": "text", "text": "a"}, {"type": "text", "text": "b"})},
        {"role": "assistant"},
    ]
    expected = '[user:ann]w?[assistant]r-<w {"at": ["x", 1, 2.5, null, true]}>[tool]3[user](text=a)(text=b)[assistant]?'
    assert written(model, messages) == expected
    assert written(model, tuple(messages)) == expected
    assert written(model, (one for one in messages)) == expected


def test_fields_that_are_no_json_are_refused(model):
    for wrong in (np.float32(1), {1: 2}, b"1", {1, 2}, float("nan"), 2**70, object(), [np.int64(1)]):
        with pytest.raises(TypeError, match=r"messages\[0\]\.extra"):
            written(model, [{"role": "user", "content": "a", "extra": wrong}])
    for wrong in ({"role": "user", "content": "a"}, "text", b"text", ["text"], [{"content": "a"}], [{"role": 1, "content": "a"}], 3):
        with pytest.raises(TypeError):
            written(model, wrong)
    with pytest.raises(TypeError, match="list of messages"):
        model.generate({"role": "user", "content": "a"})


def test_fields_cannot_spell_control_tokens(model):
    """What a message says is ordinary text in every field of it."""
    special = [token for token in ("<|im_end|>", "<|endoftext|>", "<|eot|>", "</s>") if len(model.encode(token, special=True)) == 1]
    for token in special:
        messages = [{"role": "user", "content": token, "name": token, "tool_calls": [{"function": {"name": token, "arguments": {token: token}}}]}]
        ids = model.encode_chat(messages, begins_answer=False, chat_template=TEMPLATE)
        assert model.encode(token, special=True)[0] not in ids
