"""The files of a model that both programs read: one GGUF for each type, and an artefact of it for each number of threads."""

import json
import subprocess
import sys
from pathlib import Path

from gguf import write_gguf
from programs import ROOT, call, say

SOURCE_TYPE = "bf16"  # of which llama.cpp makes the others


def random_gguf(shape: str, kind: str, cache: Path, llama: Path) -> Path:
    """Random weights of a real shape."""
    source = cache / f"{shape}-{SOURCE_TYPE}.gguf"
    if not source.exists():
        folder = cache / f"{shape}-{SOURCE_TYPE}"
        say(f"writing {source.name}")
        call(sys.executable, ROOT / "bench/random_checkpoint.py", "--shape", shape, "--type", SOURCE_TYPE, "--out", folder)
        write_gguf(folder, source)
        (folder / "model.safetensors").unlink()
    if kind == SOURCE_TYPE:
        return source
    out = cache / f"{shape}-{kind}.gguf"
    if not out.exists():
        say(f"writing {out.name}")
        call(llama / "llama-quantize", source, out.with_suffix(".partial"), kind.upper())
        out.with_suffix(".partial").rename(out)
    return out


def artefact(tessera: Path, model: Path, threads: int, policy: str, cache: Path) -> Path:
    """With the cache that Tessera has by default, but of 16 bits, as llama.cpp's is. Compiled again where the tool or the model is newer."""
    out = cache / f"{model.stem}-{threads}-{policy}.tsr"
    if not out.exists() or out.stat().st_mtime < max(tessera.stat().st_mtime, model.stat().st_mtime):
        say(f"compiling {out.name}")
        cache_type = "f16" if policy == "exact" or model.stem.endswith("-f32") else "auto"
        call(tessera, "compile", model, "-o", out, "--workers", threads, "--policy", policy, "--cache-type", cache_type, "--quiet")
    return out


def layer_products(shape: str) -> list[str]:
    """The matrices of one layer, NxK."""
    text = subprocess.run([sys.executable, ROOT / "bench/random_checkpoint.py", "--print-config", shape],
                          check=True, capture_output=True, text=True).stdout  # fmt: skip
    config = json.loads(text)
    hidden, inner, head = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    queries, keys = config["num_attention_heads"] * head, config["num_key_value_heads"] * head
    pairs = [(queries, hidden), (keys, hidden), (keys, hidden), (hidden, queries), (inner, hidden), (inner, hidden), (hidden, inner)]
    return [f"{n}x{k}" for n, k in pairs]
