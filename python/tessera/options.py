"""The options of calls, as keyword arguments. The library has the defaults; None is one of them. A value of another type
is a TypeError: no number is cut to an integer."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict, Union

Path = Union[str, PathLike[str]]
"""A path of a file or a folder."""

Message = Mapping[str, Any]
"""A message of a conversation: {"role": "user", "content": "Hello!"}. Roles are system, user, assistant, and others that
the model's template knows. So are fields: all of them are handed to it, `tool_calls` or `name` for instance."""

Prompt = Union[str, Sequence[int], Sequence[Message]]
"""A text, its ids (int[tokens]), or a conversation, which the model's own chat template writes."""


Dims = Mapping[str, Union[int, tuple[int, int], tuple[int, int, int]]]
"""Symbolic extents of an ONNX model: a number, or the least and the largest one, and of what all are multiples."""

Constants = Mapping[str, Any]
"""Inputs of an ONNX model that are known when it is compiled: a number, an array of few numbers, or the path of a NumPy
file."""

Points = Mapping[str, Union[Mapping[str, int], tuple[float, Mapping[str, int]]]]
"""Values of all symbols of an ONNX model at which the plan should be fast, by a name for each; or how much they count,
and the values."""


class GenerateOptions(TypedDict, total=False):
    """How a text is continued. Without options: the most probable tokens, at most 128.

    max_tokens          at most so many tokens; 0: none, -1: as many as the context holds
    stop                strings that end the text and are not part of it, or one; none may be empty
    stop_ids            ids, likewise
    past_end            True: the model's own end-of-text ids do not end the text
    reuse_prefix        of Model alone: keeps keys and values of the prompt for the next call that says so, which
                        computes only what differs: a conversation goes on without being read again
    temperature         at least 0; 0: the most probable token, ties to the lowest id
    top_k               draws from so many of the most probable tokens; 0: from all
    top_p               from the fewest most probable ones that together have this probability; in (0, 1]
    min_p               from those with at least this fraction of the largest probability; in [0, 1]
    typical_p           from those whose surprise is nearest to the expected one; in (0, 1]
    repetition_penalty  above 0; above 1 it makes repeated tokens less probable
    repetition_window   a token is repeated if it is among so many last ones of prompt and text
    frequency_penalty   taken off a token's logit for each time that it is in the window
    presence_penalty    taken off once, if it is there
    logit_bias          added to the logits of ids; -inf: the token never comes
    seed                of the draws, 0 to 2**64 - 1: the same seed, prompt and options give the same text
    """

    max_tokens: int
    stop: Union[str, Sequence[str]]
    stop_ids: Sequence[int]
    past_end: bool
    reuse_prefix: bool
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    typical_p: float
    repetition_penalty: float
    repetition_window: int
    frequency_penalty: float
    presence_penalty: float
    logit_bias: Mapping[int, float]
    seed: int


class CompileOptions(TypedDict, total=False):
    """How a model is compiled. docs/types.md and docs/schedule.md say more.

    machine        description of a machine (TOML); default: this one, as `tessera machine --measure` left it
    workers        threads that compute a step together, 1 to 1024; default: the machine's cores, divided among the ranks
    context        tokens of one sequence; default: the model's positions, but at most 8192
    policy         the permitted rounding of activations: "exact" (F32), "default", or "fast" (8 bits)
    cache_type     of keys and values: "auto", "f32", "f16", "bf16" or "q8_0"
    quantize       the matrices of a float checkpoint: "q8_0", "q4_0" or "q4_k_m"
    architecture   file with the text of the model's architecture (docs/architectures.md), beside those that are known
    embeddings     True: the artefact can embed texts, too
    search_effort  work of the searches, a multiple of the default; 0: none for graphs and layouts
    cost           for comparisons: "nncase", "mcfuser" or "roofline" prices kernels in the schedule search; not with `plan`
    without        for comparisons: parts of the searches that are left out (docs/schedule.md); not with `plan`
    regions        for comparisons: operators of the regions that are all looked at, 1 to 8; not with `plan`
    backend        for comparisons: "scalar-c" prints the code as plain C, which is slow; "cpp" is the default
    plan           file of a plan to compile in place of the planner's
    kernels        file of kernels to keep, around which the others are searched
    tuning         file of `tessera tune`: kernels that were measured on this machine
    ranks          parts of the model that compute a step together, each with `workers` threads, 2 to 128; default:
                   one. They are threads of one process, or of those that mpirun starts (docs/ranks.md)
    cluster        description of the ranks and what lies between them (TOML); default: ranks on this machine
    rank_memory    bytes of one rank, at most
    dump           folder for the printed form after every pass
    dims           of an ONNX model: its symbolic extents
    constants      of an ONNX model: inputs that are known now
    aliases        of an ONNX model: outputs that an input continues with rows appended, {"present.0.key": "past.0.key"}
    points         of an ONNX model with bounds: where the plan should be fast; without it at the upper bounds
    on_pass        told the name of each pass as it starts; an exception that it raises ends the compilation
    """

    machine: Path
    workers: int
    context: int
    policy: str
    cache_type: str
    quantize: str
    architecture: Path
    embeddings: bool
    search_effort: int
    cost: str
    without: Sequence[str]
    regions: int
    backend: str
    plan: Path
    kernels: Path
    tuning: Path
    ranks: int
    cluster: Path
    rank_memory: int
    dump: Path
    dims: Dims
    constants: Constants
    aliases: Mapping[str, str]
    points: Points
    on_pass: Callable[[str], None]
