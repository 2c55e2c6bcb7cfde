"""Tessera compiles transformer checkpoints into native code, and runs them.

    import tessera

    model = tessera.load("SmolLM2-135M-Instruct.gguf")      # compiled on first use
    for piece in model.stream([{"role": "user", "content": "Why is the sky blue?"}]):
        print(piece, end="", flush=True)

load     a Model, which continues texts, computes logits and embeds, one text at a time
Engine   the same of many texts at one time
compile  a checkpoint becomes an artefact, a file with native code, weights and tokenizer
inspect  what an artefact holds: plan, operators, predicted times

Everything is a call of the C++ library; docs/python.md is the page.
"""

from tessera.errors import Error  # the extension asks for it
from tessera.compiling import CompileReport, Pass, compile, inspect, plan_text, retarget
from tessera.engine import Engine, Request
from tessera.environment import shipped_model
from tessera.model import Generation, Model, Stream, load
from tessera.options import CompileOptions, GenerateOptions, Message, Prompt

__all__ = [
    "CompileOptions",
    "CompileReport",
    "Engine",
    "Error",
    "GenerateOptions",
    "Generation",
    "Message",
    "Model",
    "Pass",
    "Prompt",
    "Request",
    "Stream",
    "compile",
    "inspect",
    "load",
    "plan_text",
    "retarget",
    "shipped_model",
]
__version__ = "0.1.0"
