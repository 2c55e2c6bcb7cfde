"""A HuggingFace folder of the Qwen3 shape as one GGUF file, so that every program reads the same weights.

Matrices keep their type and their bytes; norms become F32, which is what llama.cpp multiplies by. There is no tokenizer:
benchmarks are made of ids.
"""

import json
import struct
from pathlib import Path
from typing import BinaryIO

ALIGNMENT = 32
SLICE = 1 << 24
U32, F32, STRING = 4, 6, 8  # types of values in GGUF
TENSOR_TYPES = {"F32": 0, "F16": 1, "BF16": 30}

OUTSIDE = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight"}
IN_LAYER = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


def gguf_name(name: str) -> str:
    if name in OUTSIDE:
        return OUTSIDE[name]
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{IN_LAYER[rest.removesuffix('.weight')]}.weight"


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def key_value(key: str, value: int | float | str) -> bytes:
    if isinstance(value, str):
        return string(key) + struct.pack("<I", STRING) + string(value)
    if isinstance(value, float):
        return string(key) + struct.pack("<If", F32, value)
    return string(key) + struct.pack("<II", U32, value)


def metadata(config: dict) -> dict[str, int | float | str]:
    return {
        "general.architecture": "qwen3",
        "general.alignment": ALIGNMENT,
        "qwen3.vocab_size": config["vocab_size"],
        "qwen3.context_length": config["max_position_embeddings"],
        "qwen3.embedding_length": config["hidden_size"],
        "qwen3.block_count": config["num_hidden_layers"],
        "qwen3.feed_forward_length": config["intermediate_size"],
        "qwen3.attention.head_count": config["num_attention_heads"],
        "qwen3.attention.head_count_kv": config["num_key_value_heads"],
        "qwen3.attention.key_length": config["head_dim"],
        "qwen3.attention.value_length": config["head_dim"],
        "qwen3.attention.layer_norm_rms_epsilon": float(config["rms_norm_eps"]),
        "qwen3.rope.freq_base": float(config["rope_theta"]),
        "tokenizer.ggml.model": "none",
    }


def widened(data: bytes, dtype: str) -> bytes:
    """As F32."""
    if dtype == "F32":
        return data
    count = len(data) // 2
    if dtype == "F16":
        return struct.pack(f"<{count}f", *struct.unpack(f"<{count}e", data))
    return b"".join(b"\0\0" + data[2 * i : 2 * i + 2] for i in range(count))


def copy(source: BinaryIO, size: int, target: BinaryIO) -> None:
    while size > 0:
        piece = source.read(min(SLICE, size))
        target.write(piece)
        size -= len(piece)


def write_gguf(folder: Path, out: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    if config["model_type"] != "qwen3":
        raise SystemExit(f"{folder}: model_type is {config['model_type']!r}, expected 'qwen3'")
    with (folder / "model.safetensors").open("rb") as source:
        (length,) = struct.unpack("<Q", source.read(8))
        header = json.loads(source.read(length))
        header.pop("__metadata__", None)
        values = metadata(config)
        head = struct.pack("<IIQQ", 0x46554747, 3, len(header), len(values))
        head += b"".join(key_value(key, value) for key, value in values.items())
        offset = 0
        for name, tensor in header.items():
            shape, dtype = tensor["shape"], tensor["dtype"]
            if len(shape) == 1:
                dtype = "F32"
            size = shape[0] * 4 if len(shape) == 1 else tensor["data_offsets"][1] - tensor["data_offsets"][0]
            head += string(gguf_name(name)) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
            head += struct.pack("<IQ", TENSOR_TYPES[dtype], offset)
            offset += size + -size % ALIGNMENT
        partial = out.with_suffix(".partial")
        with partial.open("wb") as target:
            target.write(head + b"\0" * (-len(head) % ALIGNMENT))
            for tensor in header.values():
                begin, end = tensor["data_offsets"]
                source.seek(8 + length + begin)
                if len(tensor["shape"]) == 1:
                    target.write(widened(source.read(end - begin), tensor["dtype"]))
                else:
                    copy(source, end - begin, target)
                target.write(b"\0" * (-target.tell() % ALIGNMENT))
        partial.rename(out)
