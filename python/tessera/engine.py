"""Many texts at the same time."""

from collections.abc import Iterator, Sequence
from typing import Any, Optional, Union, Unpack

import numpy as np
import numpy.typing as npt

from tessera import _native, environment
from tessera.model import Generation
from tessera.options import GenerateOptions, Path, Prompt
from tessera.prompts import one_text, prepare, several, several_prompts


class Request(Iterator[str]):
    """A text that an Engine makes: an iterator over its pieces as they come. It is cancelled when nobody refers to it any
    more."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __next__(self) -> str:
        """The next piece; waits for it. Raises StopIteration at the end of the text, and Error if it failed."""
        return self._native.next()

    def result(self) -> Generation:
        """Waits for the end of the text. Ctrl-C ends the waiting. Raises Error if it failed."""
        return Generation(**self._native.result())

    def cancel(self) -> None:
        """Ends the text within one step; its result then says "interrupted". Nothing happens after its end."""
        self._native.cancel()


class Engine:
    """A language model that continues many prompts at the same time, in a thread of its own: every step is one batch.

    model            as for tessera.load
    context          tokens of the longest sequence; 0: as many as the model allows
    sequences        texts that are computed at one time; 0: as many as one step of the code takes
    cache_tokens     tokens that the cache holds of all texts together; 0: all at full length
    waiting          requests that wait for a place; more are refused
    prompt_chunk     most tokens of prompts in one step
    reuse_prefix     prompts that begin like an ended text are not read again
    batch_invariant  True: the result of a request does not depend on others, to the last bit. False: every step is
                     computed by the fastest code for it, which may round otherwise
    workers          threads, and
    embeddings       the ability to embed texts, as for tessera.load

    Raises Error as tessera.load does, if the model has no tokenizer, or if the settings are beyond its code. Any thread
    may use it.
    """

    def __init__(
        self,
        model: Optional[Path] = None,
        *,
        context: int = 0,
        sequences: int = 0,
        cache_tokens: int = 0,
        waiting: int = 64,
        prompt_chunk: int = 128,
        reuse_prefix: bool = True,
        batch_invariant: bool = True,
        workers: Optional[int] = None,
        embeddings: bool = False,
    ) -> None:
        how = {**environment.opening(), "context": context, "workers": workers, "embeddings": embeddings}
        settings = {
            "context": context,
            "sequences": sequences,
            "cache_tokens": cache_tokens,
            "waiting": waiting,
            "prompt_chunk": prompt_chunk,
            "reuse_prefix": reuse_prefix,
            "batch_invariant": batch_invariant,
        }
        self._native = _native.Engine(model if model is not None else environment.shipped_model(), how, settings)

    @property
    def name(self) -> str:
        """The name of the model, for people."""
        return self._native.name

    @property
    def context(self) -> int:
        """Tokens of the longest sequence, prompt included."""
        return self._native.context

    @property
    def sequences(self) -> int:
        """Texts that are computed at one time."""
        return self._native.sequences

    @property
    def embedding_width(self) -> int:
        """Numbers of an embedding; 0: the model was compiled without embeddings."""
        return self._native.embedding_width

    @property
    def memory_bytes(self) -> int:
        """Bytes of cache and intermediate buffers."""
        return self._native.memory_bytes

    def encode(self, text: str, special: bool = False) -> list[int]:
        """The ids int[tokens] of a prompt, as Model.encode. Raises Error as that does."""
        return self._native.encode(one_text(text), special)

    def submit(self, prompt: Prompt, **options: Unpack[GenerateOptions]) -> Request:
        """Begins a text. Options: see GenerateOptions, but for `reuse_prefix`, which is the engine's.

        Raises Error if too many requests wait, or the request cannot be computed.
        """
        ids, given = prepare(self._native, prompt, options)
        return Request(_native.Request(self._native, ids, given))

    def generate(self, prompts: Union[Prompt, Sequence[Prompt]], **options: Unpack[GenerateOptions]) -> list[Generation]:
        """Continues several prompts at one time; at most `sequences + waiting` of them. A prompt by itself is a list of
        one. Raises Error as submit does, and if one of them fails."""
        requests = [self.submit(prompt, **options) for prompt in several_prompts(prompts)]
        return [request.result() for request in requests]

    def embed(
        self, texts: Union[str, Sequence[str]], *, pooling: Optional[str] = None, normalise: Optional[bool] = None
    ) -> npt.NDArray[np.float32]:
        """Embeddings, as Model.embed: float32[embedding_width] of one text, float32[texts, embedding_width] of several."""
        requests = [
            _native.Request(self._native, self._native.encode_whole(text), pooling, normalise) for text in several(texts)
        ]
        rows = np.empty((len(requests), self.embedding_width), np.float32)
        for row, request in zip(rows, requests):
            row[:] = np.frombuffer(request.embedding(), np.float32)
        return rows[0] if isinstance(texts, str) else rows

    def statistics(self) -> dict[str, Union[int, float]]:
        """Counts since the engine was started: running and waiting requests; pages of the cache, and available_pages that
        no running text needs; steps and step_seconds; prompt_tokens computed, reused_tokens and generated_tokens of
        requests that have ended; and how many finished, were interrupted or failed."""
        return self._native.statistics()
