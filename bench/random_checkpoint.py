#!/usr/bin/env python3
"""Writes a random checkpoint of a real model's shape, for benchmarks.

    bench/random_checkpoint.py --shape qwen3-0.6b --out /tmp/qwen3-0.6b
    bench/random_checkpoint.py --shape qwen3-0.6b --type bf16 --out /tmp/qwen3-0.6b-bf16
    bench/random_checkpoint.py --shape qwen3-0.6b --layers 2 --out /tmp/two-layers
    bench/random_checkpoint.py --config some/config.json --out /tmp/other

The folder is a HuggingFace directory, config.json and model.safetensors,
without a tokenizer. Matrices are normal with a deviation of 0.02 (HuggingFace's
initializer_range), norms are 1 and biases 0, so that activations stay of the
order of 1 at every depth. A tensor depends on the seed, its name and its shape
alone: the two layers of a shrunk model are the first two of the whole one.

Needs python3-numpy. Writes in slices; memory stays below 200 MB at any size.
"""

import argparse
import hashlib
import json
import math
import shutil
import struct
import sys
import time
from pathlib import Path
from typing import BinaryIO

import numpy

SLICE = 1 << 22  # elements that are generated at once: 16 MiB
DEVIATION = 0.02

QWEN3 = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "hidden_act": "silu",
    "attention_bias": False,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1_000_000,
    "rope_scaling": None,
    "tie_word_embeddings": True,
}

# The published config.json of Qwen/Qwen3-0.6B and Qwen/Qwen3-1.7B.
SHAPES = {
    "qwen3-0.6b": QWEN3 | {
        "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
        "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
        "vocab_size": 151936, "max_position_embeddings": 40960,
        "bos_token_id": 151643, "eos_token_id": 151645,
    },
    "qwen3-1.7b": QWEN3 | {
        "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 28,
        "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
        "vocab_size": 151936, "max_position_embeddings": 40960,
        "bos_token_id": 151643, "eos_token_id": 151645,
    },
    "tiny": QWEN3 | {
        "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
        "vocab_size": 512, "max_position_embeddings": 512,
        "bos_token_id": 510, "eos_token_id": 511,
    },
}  # fmt: skip


def tensor_shapes(config: dict) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the parameters, in the order of the model."""
    kind = config["model_type"]
    if kind not in ("qwen3", "qwen2", "llama"):
        raise SystemExit(f"model_type is {kind!r}; qwen3, qwen2 and llama are known")
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    heads = config["num_attention_heads"]
    head = config.get("head_dim") or hidden // heads
    queries = heads * head
    keys = (config.get("num_key_value_heads") or heads) * head
    biased = kind == "qwen2" or config.get("attention_bias", False)

    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config["vocab_size"], hidden)
    }
    for i in range(config["num_hidden_layers"]):
        layer: dict[str, tuple[int, ...]] = {"input_layernorm.weight": (hidden,)}
        for name, rows in (("q_proj", queries), ("k_proj", keys), ("v_proj", keys)):
            layer[f"self_attn.{name}.weight"] = (rows, hidden)
            if biased:
                layer[f"self_attn.{name}.bias"] = (rows,)
        layer["self_attn.o_proj.weight"] = (hidden, queries)
        if biased and kind != "qwen2":
            layer["self_attn.o_proj.bias"] = (hidden,)
        if kind == "qwen3":
            layer["self_attn.q_norm.weight"] = (head,)
            layer["self_attn.k_norm.weight"] = (head,)
        layer["post_attention_layernorm.weight"] = (hidden,)
        layer["mlp.gate_proj.weight"] = (inner, hidden)
        layer["mlp.up_proj.weight"] = (inner, hidden)
        layer["mlp.down_proj.weight"] = (hidden, inner)
        shapes |= {f"model.layers.{i}.{name}": shape for name, shape in layer.items()}
    shapes["model.norm.weight"] = (hidden,)
    if not config.get("tie_word_embeddings", False):
        shapes["lm_head.weight"] = (config["vocab_size"], hidden)
    return shapes


def bfloat16(values: numpy.ndarray) -> numpy.ndarray:
    """The upper halves of the numbers, rounded to nearest even."""
    bits = values.view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


# For each type: its names in safetensors and config.json, its bytes, how F32 values are stored.
TYPES = {
    "f32": ("F32", "float32", 4, lambda values: values.astype("<f4", copy=False)),
    "f16": ("F16", "float16", 2, lambda values: values.astype("<f2")),
    "bf16": ("BF16", "bfloat16", 2, bfloat16),
}


def write_tensor(file: BinaryIO, name: str, shape: tuple[int, ...], kind: str, seed: int) -> None:
    size = math.prod(shape)
    stored = TYPES[kind][3]
    if len(shape) == 1:
        fill = 0.0 if name.endswith("bias") else 1.0
        file.write(stored(numpy.full(size, fill, numpy.float32)).tobytes())
        return
    key = hashlib.sha256(f"{seed}/{name}/{shape}".encode()).digest()
    random = numpy.random.Generator(numpy.random.PCG64(int.from_bytes(key, "little")))
    for first in range(0, size, SLICE):
        values = random.standard_normal(min(SLICE, size - first), dtype=numpy.float32)
        values *= numpy.float32(DEVIATION)
        file.write(stored(values).data)


def write_checkpoint(folder: Path, config: dict, kind: str, seed: int) -> int:
    """Writes the folder and returns the number of parameters."""
    shapes = tensor_shapes(config)
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    dtype, torch_dtype, size, _ = TYPES[kind]
    config = config | {"torch_dtype": torch_dtype}
    for name, shape in shapes.items():
        end = offset + size * math.prod(shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # safetensors: data begins at a multiple of 8

    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < offset + len(text):
        raise SystemExit(f"{folder}: needs {offset} bytes, {free} are free; try --layers")
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    # A name of its own until it is whole: nobody reads half a checkpoint.
    partial = folder / "model.safetensors.partial"
    with partial.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes.items():
            write_tensor(file, name, shape, kind, seed)
    partial.rename(folder / "model.safetensors")
    return offset // size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--shape", choices=sorted(SHAPES))
    source.add_argument("--config", type=Path, help="a config.json of HuggingFace")
    source.add_argument("--print-config", choices=sorted(SHAPES), help="print the config.json of a shape, and write nothing")
    parser.add_argument("--type", choices=TYPES, default="f32", help="of all tensors (f32)")
    parser.add_argument("--layers", type=int, help="only so many layers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder to write")
    options = parser.parse_args()
    if options.print_config:
        print(json.dumps(SHAPES[options.print_config], indent=2))
        return
    if not options.out:
        parser.error("--out is required")

    config = dict(SHAPES[options.shape]) if options.shape else json.loads(options.config.read_text())
    if options.layers is not None:
        if options.layers < 1:
            parser.error("--layers must be at least 1")
        config["num_hidden_layers"] = options.layers
    started = time.monotonic()
    parameters = write_checkpoint(options.out, config, options.type, options.seed)
    print(
        f"{options.out}: {parameters} parameters in {time.monotonic() - started:.1f} s",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
