#!/usr/bin/env python3
"""The shipped checkpoint is what it says: a whole Qwen3 in F32, within 4 MB.

Checks the files against each other and against the formats: safetensors
(https://github.com/huggingface/safetensors), the parameter names and shapes of
Qwen3ForCausalLM, byte-level BPE, and the reference that was computed from it.

Standard library only. Usage: checkpoint_form.py [MODEL_FOLDER]
"""

import array
import json
import math
import struct
import sys
import unittest
from pathlib import Path

MODEL = Path(__file__).resolve().parents[2] / "models" / "tessera-tiny"
LIMIT = 4_000_000  # bytes, all files of the folder together


def expected_shapes(config: dict) -> dict[str, list[int]]:
    hidden, head = config["hidden_size"], config["head_dim"]
    queries = config["num_attention_heads"] * head
    keys = config["num_key_value_heads"] * head
    shapes = {
        "model.embed_tokens.weight": [config["vocab_size"], hidden],
        "model.norm.weight": [hidden],
    }
    for i in range(config["num_hidden_layers"]):
        layer = {
            "input_layernorm": [hidden],
            "post_attention_layernorm": [hidden],
            "self_attn.q_proj": [queries, hidden],
            "self_attn.k_proj": [keys, hidden],
            "self_attn.v_proj": [keys, hidden],
            "self_attn.o_proj": [hidden, queries],
            "self_attn.q_norm": [head],
            "self_attn.k_norm": [head],
            "mlp.gate_proj": [config["intermediate_size"], hidden],
            "mlp.up_proj": [config["intermediate_size"], hidden],
            "mlp.down_proj": [hidden, config["intermediate_size"]],
        }
        shapes |= {f"model.layers.{i}.{name}.weight": shape for name, shape in layer.items()}
    return shapes


def floats(data: bytes) -> array.array:
    values = array.array("f", data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


class Form(unittest.TestCase):
    model = MODEL

    def setUp(self):
        self.config = json.loads((self.model / "config.json").read_text())
        self.tokenizer = json.loads((self.model / "tokenizer.json").read_text())

    def test_the_folder_is_small(self):
        files = [f for f in self.model.rglob("*") if f.is_file()]
        self.assertLessEqual(sum(f.stat().st_size for f in files), LIMIT)

    def test_the_weights_are_a_whole_finite_qwen3(self):
        self.assertEqual(self.config["architectures"], ["Qwen3ForCausalLM"])
        self.assertTrue(self.config["tie_word_embeddings"])
        content = (self.model / "model.safetensors").read_bytes()
        (length,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8 : 8 + length])
        header.pop("__metadata__", None)
        data = content[8 + length :]
        self.assertEqual({n: e["shape"] for n, e in header.items()}, expected_shapes(self.config))
        end = 0
        for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            self.assertEqual(entry["dtype"], "F32", name)
            first, last = entry["data_offsets"]
            self.assertEqual(first, end, name)
            self.assertEqual(last - first, 4 * math.prod(entry["shape"]), name)
            self.assertTrue(all(map(math.isfinite, floats(data[first:last]))), name)
            end = last
        self.assertEqual(end, len(data))

    def test_the_tokenizer_fits_the_config(self):
        vocab = self.tokenizer["model"]["vocab"]
        merges = [m.split(" ") for m in self.tokenizer["model"]["merges"]]
        added = {t["content"]: t["id"] for t in self.tokenizer["added_tokens"]}
        ids = sorted([*vocab.values(), *added.values()])
        self.assertEqual(ids, list(range(self.config["vocab_size"])))
        self.assertEqual(added["<|endoftext|>"], self.config["eos_token_id"])
        self.assertEqual(sum(len(token) == 1 for token in vocab), 256)
        for left, right in merges:
            self.assertTrue({left, right, left + right} <= vocab.keys(), (left, right))
            self.assertGreater(vocab[left + right], max(vocab[left], vocab[right]))
        digits_merged = [t for t in vocab if len(t) > 1 and any(c.isdigit() for c in t)]
        self.assertEqual(digits_merged, [])

    def test_the_reference_is_complete_and_agrees_with_itself(self):
        folder = self.model / "reference"
        prompt = json.loads((folder / "ids.json").read_text())
        greedy = json.loads((folder / "greedy.json").read_text())
        vocabulary = self.config["vocab_size"]
        logits = floats((folder / "logits.bin").read_bytes())
        self.assertEqual(len(logits), (len(prompt) + len(greedy)) * vocabulary)
        self.assertTrue(all(0 <= token < vocabulary for token in prompt))
        for step, token in enumerate(greedy):
            row = (len(prompt) - 1 + step) * vocabulary
            values = logits[row : row + vocabulary]
            self.assertEqual(max(range(vocabulary), key=values.__getitem__), token)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        Form.model = Path(sys.argv.pop(1))
    unittest.main()
