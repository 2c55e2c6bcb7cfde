"""Tessera compiles models into native code, and runs them.

    import tessera

    model = tessera.load("SmolLM2-135M-Instruct.gguf")      # compiled on first use
    for piece in model.stream([{"role": "user", "content": "Why is the sky blue?"}]):
        print(piece, end="", flush=True)

load     a Model, which continues texts, computes logits and embeds, one text at a time
Engine   the same of many texts at one time
compile  a model becomes an artefact, a file with native code, weights and tokenizer; an ONNX model also a Program, a
         function of arrays
inspect  what an artefact holds: plan, operators, predicted times

InferenceSession and the module onnxruntime are the interface of the package of that name, for programs that use it.

Everything is a call of the C++ library; docs/python.md is the page.
"""

from tessera.errors import Error  # the extension asks for it
from tessera import onnxruntime
from tessera.compiling import CompileReport, Pass, compile, retarget
from tessera.engine import Engine, Request
from tessera.environment import shipped_model
from tessera.inspecting import inspect, plan_text
from tessera.model import Generation, Model, Stream, load
from tessera.onnxruntime import InferenceSession
from tessera.options import CompileOptions, GenerateOptions, Message, Prompt
from tessera.program import ArrayInfo, Program, interpret
from tessera.session_options import SessionOptions

__all__ = [
    "ArrayInfo",
    "CompileOptions",
    "CompileReport",
    "Engine",
    "Error",
    "GenerateOptions",
    "Generation",
    "InferenceSession",
    "Message",
    "Model",
    "Pass",
    "Program",
    "Prompt",
    "Request",
    "SessionOptions",
    "Stream",
    "compile",
    "inspect",
    "interpret",
    "load",
    "onnxruntime",
    "plan_text",
    "retarget",
    "shipped_model",
]
__version__ = "0.1.0"
