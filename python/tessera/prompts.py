"""Prompts become ids: nothing that a program gives is dropped or cut to fit."""

import json
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from tessera.errors import Error
from tessera.options import GenerateOptions, Message, Prompt

_BYTES = (bytes, bytearray, memoryview)
_INTEGERS = range(-(2**63), 2**63)
_IDS = range(2**31)


def token_ids(values: Any) -> list[int]:
    """The ids int[tokens] of any iterable of integers: Python's, NumPy's or others that have an `__index__`."""
    if isinstance(values, np.ndarray) and (values.ndim != 1 or (values.size > 0 and values.dtype.kind not in "iu")):
        raise TypeError(f"ids cannot be an array {values.dtype}{list(values.shape)}: they are integers in one dimension")
    if isinstance(values, (str, Mapping, *_BYTES)) or not isinstance(values, Iterable):
        raise TypeError(f"ids cannot be {values!r}: they are a list of integers")
    ids = []
    for value in values:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{value!r} is no id: ids are integers")
        try:
            ids.append(operator.index(value))
        except TypeError:
            raise TypeError(f"{value!r} is no id: ids are integers") from None
        if ids[-1] not in _IDS:
            raise Error("", "", f"{ids[-1]} is no id of the vocabulary", "ids are 0 to vocabulary - 1", True)
    return ids


def _plain(value: Any, place: str) -> Any:
    """The value if JSON has it, with the types of Python. Raises TypeError that names the place."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int) and int(value) in _INTEGERS:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise TypeError(f"{place} has the key {wrong[0]!r}, expected a text")
        return {key: _plain(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{index}]") for index, item in enumerate(value)]
    raise TypeError(f"{place} cannot be {value!r}: a message holds texts, numbers, truth values, lists and dictionaries")


def message_texts(messages: Iterable[Message]) -> list[str]:
    """Each message as JSON, with all of its fields: which of them matter, the template knows."""
    if isinstance(messages, (str, Mapping, *_BYTES)):
        raise TypeError(f"messages cannot be {messages!r}: they are a list of dictionaries")
    texts = []
    for index, message in enumerate(messages):
        place = f"messages[{index}]"
        if not isinstance(message, Mapping):
            raise TypeError(f"{place} cannot be {message!r}: it is a dictionary with a role")
        if not isinstance(message.get("role"), str):
            raise TypeError(f"{place} has no role: write {{'role': 'user', 'content': ..}}")
        texts.append(json.dumps(_plain(message, place), ensure_ascii=False, allow_nan=False))
    return texts


def one_text(text: Any) -> str:
    """The text itself. Raises TypeError for anything else, bytes among it."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is no text")
    return text


def several(texts: Union[str, Iterable[str]]) -> list[str]:
    """One text is a list of one."""
    given = [texts] if isinstance(texts, str) else texts
    if isinstance(given, (Mapping, *_BYTES)) or not isinstance(given, Iterable):
        raise TypeError(f"texts cannot be {texts!r}: they are a list of texts")
    return [one_text(text) for text in given]


def _is_one(prompt: Any) -> bool:
    """Whether it is a prompt by itself, and not a list of some."""
    if isinstance(prompt, (str, Mapping, *_BYTES)):
        return True
    return isinstance(prompt, Sequence) and len(prompt) > 0 and (isinstance(prompt[0], Mapping) or hasattr(prompt[0], "__index__"))


def several_prompts(prompts: Any) -> list[Prompt]:
    """One prompt is a list of one."""
    if isinstance(prompts, np.ndarray):
        return [prompts] if prompts.ndim == 1 else list(prompts)
    return [prompts] if _is_one(prompts) else list(prompts)


def prepare(native: Any, prompt: Prompt, options: GenerateOptions) -> tuple[list[int], dict[str, Any]]:
    """The ids of a prompt, and the options with the ends of an answer in a conversation."""
    given: dict[str, Any] = dict(options)
    if isinstance(prompt, str):
        return native.encode(prompt, False), given
    if isinstance(prompt, Mapping):
        raise TypeError(f"a prompt cannot be {prompt!r}: a conversation is a list of messages")
    listed = prompt if isinstance(prompt, (np.ndarray, *_BYTES)) or not isinstance(prompt, Iterable) else list(prompt)
    if not isinstance(listed, list) or not listed or not isinstance(listed[0], Mapping):
        return token_ids(listed), given
    stops = given.get("stop_ids")
    given["stop_ids"] = [*token_ids([] if stops is None else stops), *native.chat_ends()]
    return native.encode_chat(message_texts(listed), True, None, ""), given
