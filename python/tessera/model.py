"""Models that compute one text at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union, Unpack

import numpy as np
import numpy.typing as npt

from tessera import _native, environment
from tessera.inspecting import inspect, plan_text
from tessera.options import GenerateOptions, Message, Path, Prompt
from tessera.prompts import message_texts, one_text, prepare, several, token_ids


@dataclass(frozen=True)
class Generation:
    """A text, and how it came about.

    text            without the prompt; empty without a tokenizer
    ids             int[tokens], without the id that ended the text, but with those that spell a stop string
    reason          why it ended: "max_tokens", "stop_id", "stop_string", "context" (no position is left) or "interrupted"
    prompt_tokens   tokens of the prompt that were computed
    reused_tokens   tokens of the prompt that were not, because their keys and values were kept
    prompt_seconds  wall-clock time of the prompt; 0 of an Engine
    decode_seconds  wall-clock time of all further tokens; 0 of an Engine
    """

    text: str
    ids: list[int]
    reason: str
    prompt_tokens: int
    reused_tokens: int
    prompt_seconds: float
    decode_seconds: float


class Stream(Iterator[str]):
    """A text as it comes: an iterator over pieces of whole characters, which together are the text.

    The model makes it in a thread of its own, and can compute nothing else until the text has ended or is closed.
    `with model.stream(...) as text:` closes it in any case.
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    def __next__(self) -> str:
        """The next piece; waits for it. Ctrl-C ends the text. Raises StopIteration at the end, and Error if it failed."""
        return self._native.next()

    def result(self) -> Generation:
        """Waits for the end of the text. @return all of it. Raises Error if it failed."""
        return Generation(**self._native.result())

    def close(self) -> None:
        """Ends the text within one step; its result then says "interrupted". Nothing happens after its end."""
        self._native.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Model:
    """A language model, ready to run: the weights are mapped from its artefact, whose code is loaded.

    It computes one text at a time, on `workers` threads. Several may be open, also of one file, whose weights are then
    in memory once. tessera.load() opens one.
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """Its name, for people."""
        return self._native.name

    @property
    def artefact(self) -> str:
        """The path of its artefact."""
        return str(self._native.artefact)

    @property
    def vocabulary(self) -> int:
        """The width of a row of logits; ids are 0 to vocabulary - 1."""
        return self._native.vocabulary

    @property
    def context(self) -> int:
        """Tokens of the longest sequence, prompt included."""
        return self._native.context

    @property
    def workers(self) -> int:
        """Threads that compute a step together: part of the compiled plan."""
        return self._native.workers

    @property
    def embedding_width(self) -> int:
        """Numbers of an embedding; 0: the model was compiled without embeddings."""
        return self._native.embedding_width

    @property
    def has_tokenizer(self) -> bool:
        """Whether it reads text; else there are ids alone."""
        return self._native.has_tokenizer

    @property
    def has_chat_template(self) -> bool:
        """Whether it says how conversations are written: models that follow instructions do."""
        return self._native.has_chat_template

    @property
    def warnings(self) -> list[str]:
        """Parts of its checkpoint that it does not compute, or computes otherwise than the settings say."""
        return self._native.warnings

    @property
    def memory_bytes(self) -> int:
        """Bytes of cache and intermediate buffers; weights are mapped from the file."""
        return self._native.memory_bytes

    def __repr__(self) -> str:
        return f"<tessera.Model {self._native.describe()}>"

    def encode(self, text: str, special: bool = False) -> list[int]:
        """The ids int[tokens] of a prompt, with a BOS in front where the model expects one, and never an EOS behind.

        With `special`, special tokens that the text spells, such as <|im_start|>, become their ids; otherwise they are
        ordinary text. Raises Error if the model has no tokenizer, or one that is not supported.
        """
        return self._native.encode(one_text(text), special)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids int[tokens], special tokens included. Bytes that are no whole character become U+FFFD.

        Raises Error as encode does, and for an id that the tokenizer does not have.
        """
        return self.decode_bytes(ids).decode("utf-8", "replace")

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The same as bytes of UTF-8, which may end inside a character."""
        return self._native.decode(token_ids(ids))

    def encode_chat(
        self,
        messages: Sequence[Message],
        *,
        begins_answer: bool = True,
        thinks: Optional[bool] = None,
        chat_template: str = "",
    ) -> list[int]:
        """The ids int[tokens] of a conversation, as the model's own template writes it. Special tokens come from the
        template alone, whatever the messages spell. All fields of a message are handed to the template.

        begins_answer  the prompt ends where the assistant's next message begins
        thinks         of models that think before they answer, and whose template can switch that off
        chat_template  one in Jinja2's language instead of the model's own

        Raises Error as encode does, if the model has no template, if it is wrong, or if it refuses the conversation, and
        TypeError naming a field that JSON does not have.
        """
        return self._native.encode_chat(message_texts(messages), begins_answer, thinks, chat_template)

    def chat_ends(self) -> list[int]:
        """Ids that end an answer in a conversation, besides the model's own ends of a text: for `stop_ids` with a prompt
        of encode_chat. Raises Error as encode_chat."""
        return self._native.chat_ends()

    def generate(self, prompt: Prompt, **options: Unpack[GenerateOptions]) -> Generation:
        """Continues a text, ids or a conversation until the model ends it or an option does.

        Options: see GenerateOptions. Ctrl-C ends it within one step. Other threads of Python run meanwhile.

        Raises Error if an option is outside its range, the prompt is empty or does not fit into the context, an id is not
        of the vocabulary, or the model is computing another text.
        """
        ids, given = prepare(self._native, prompt, options)
        return Generation(**self._native.generate(ids, given))

    def stream(self, prompt: Prompt, **options: Unpack[GenerateOptions]) -> Stream:
        """The same as an iterator over pieces of the text, as they come. Raises Error as generate does, and what depends
        on the prompt with the first piece."""
        ids, given = prepare(self._native, prompt, options)
        return Stream(_native.Stream(self._native, ids, given))

    def logits(self, prompt: Union[str, Sequence[int]]) -> npt.NDArray[np.float32]:
        """The logits float32[tokens, vocabulary] after every token of a text or of ids.

        Raises Error if there are no ids, they do not fit into the context, or one is not of the vocabulary.
        """
        rows = self._native.logits(self.encode(prompt) if isinstance(prompt, str) else token_ids(prompt))
        return np.frombuffer(rows, np.float32).reshape(-1, self.vocabulary)

    def embed(
        self, texts: Union[str, Sequence[str]], *, pooling: Optional[str] = None, normalise: Optional[bool] = None
    ) -> npt.NDArray[np.float32]:
        """Embeddings: float32[embedding_width] of one text, float32[texts, embedding_width] of several.

        pooling    of the hidden states behind the last norm: "mean" of all tokens, a BOS in front included, "last",
                   "cls", "max", "mean_sqrt_len" or "weightedmean"; without it as the model says, or else the mean
        normalise  to length 1, so that products are cosines; without it as the model says, or else yes

        Raises Error if the model was compiled without embeddings (compile and load have the option), and as logits does.
        """
        whole = [self._native.encode_whole(text) for text in several(texts)]
        numbers = np.frombuffer(self._native.embed(whole, pooling, normalise), np.float32)
        rows = numbers.reshape(len(whole), self.embedding_width)
        return rows[0] if isinstance(texts, str) else rows

    def inspect(self, *, costs: bool = False, machine: Path = "") -> dict[str, Any]:
        """tessera.inspect of its artefact."""
        return inspect(self.artefact, costs=costs, machine=machine)

    def plan_text(self) -> str:
        """tessera.plan_text of its artefact."""
        return plan_text(self.artefact)


def load(
    model: Optional[Path] = None,
    *,
    context: int = 0,
    chunk: int = 0,
    workers: Optional[int] = None,
    embeddings: bool = False,
) -> Model:
    """Opens an artefact, or a HuggingFace folder or GGUF file, which is compiled on first use and found again in the
    user's cache; that needs a C++ compiler, and takes a minute or so.

    model       default: the checkpoint that ships with Tessera
    context     tokens of the longest sequence, for which memory is set aside; 0: as many as the model allows
    chunk       most tokens of one step; 0: as many as the code takes
    workers     threads that compute together, for a checkpoint; default: the machine's cores
    embeddings  True: the model must be able to embed texts

    Raises Error if the file is neither, is damaged or unsupported, if its code needs instruction sets that this machine
    lacks, or if it needs more memory than there is.
    """
    how = {**environment.opening(), "context": context, "workers": workers, "embeddings": embeddings}
    settings = {"context": context, "chunk": chunk}
    return Model(_native.Model(model if model is not None else environment.shipped_model(), how, settings))
