"""Byte-level BPE: learns merges from a text and writes `tokenizer.json`.

The format is that of HuggingFace `tokenizers`, written as Qwen2's is: NFC, a
Split by Qwen2's regular expression, ByteLevel, BPE. The expression isolates
digits, so a digit is always one token. Encoding here does what the file says,
for ASCII text, which is all that the training text holds; for it the Unicode
classes \\p{L} and \\p{N} are [A-Za-z] and [0-9], and NFC is the identity.

Sources: Sennrich et al. 2016 (BPE); Radford et al. 2019 (byte level).
"""

import json
import re
from collections import Counter
from typing import Iterable

QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
END_OF_TEXT = "<|endoftext|>"

_ASCII_PATTERN = re.compile(
    QWEN2_PATTERN.replace(r"\p{L}", "A-Za-z").replace(r"\p{N}", "0-9")
    # outside of a bracket the class needs brackets of its own
    .replace("?A-Za-z+", "?[A-Za-z]+").replace("|0-9|", "|[0-9]|"),
    re.ASCII,
)


def byte_symbols() -> list[str]:
    """The printable character that stands for each byte (GPT-2's table)."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    symbols = {b: chr(b) for b in printable}
    for b in range(256):
        if b not in symbols:
            symbols[b] = chr(256 + len(symbols) - len(printable))
    return [symbols[b] for b in range(256)]


class Tokenizer:
    def __init__(self, merges: list[tuple[str, str]]):
        self.symbols = byte_symbols()
        self.merges = merges
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        # GPT-2's order: the bytes that print as themselves come first.
        self.vocab = {s: i for i, s in enumerate(sorted(self.symbols, key=ord))}
        for left, right in merges:
            self.vocab.setdefault(left + right, len(self.vocab))
        self.end_of_text = len(self.vocab)
        self.bytes_of = {i: self._bytes(token) for token, i in self.vocab.items()}
        self._cache: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self.vocab) + 1

    def encode(self, text: str) -> list[int]:
        return [token for piece in split(text) for token in self._encode_piece(piece)]

    def decode(self, ids: Iterable[int]) -> str:
        return b"".join(self.bytes_of[i] for i in ids).decode(errors="replace")

    def to_json(self) -> str:
        added = {
            "id": self.end_of_text, "content": END_OF_TEXT, "single_word": False,
            "lstrip": False, "rstrip": False, "normalized": False, "special": True,
        }
        byte_level = {
            "type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False,
            "use_regex": False,
        }
        split_step = {
            "type": "Split", "pattern": {"Regex": QWEN2_PATTERN}, "behavior": "Isolated",
            "invert": False,
        }
        return json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [added],
                "normalizer": {"type": "NFC"},
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split_step, byte_level]},
                "post_processor": byte_level,
                "decoder": byte_level,
                "model": {
                    "type": "BPE", "dropout": None, "unk_token": None,
                    "continuing_subword_prefix": "", "end_of_word_suffix": "",
                    "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                    "vocab": self.vocab,
                    "merges": [f"{left} {right}" for left, right in self.merges],
                },
            },
            ensure_ascii=False, indent=1,
        ) + "\n"

    @staticmethod
    def from_json(text: str) -> "Tokenizer":
        merges = json.loads(text)["model"]["merges"]
        return Tokenizer([tuple(m.split(" ")) for m in merges])

    def _bytes(self, token: str) -> bytes:
        byte_of = {s: b for b, s in enumerate(self.symbols)}
        return bytes(byte_of[c] for c in token)

    def _encode_piece(self, piece: str) -> list[int]:
        if piece not in self._cache:
            parts = [self.symbols[b] for b in piece.encode()]
            while len(parts) > 1:
                rank, pair = min(
                    (self.ranks.get(p, len(self.merges)), p) for p in zip(parts, parts[1:])
                )
                if rank == len(self.merges):
                    break
                parts = merge(parts, pair)
            self._cache[piece] = [self.vocab[p] for p in parts]
        return self._cache[piece]


def split(text: str) -> list[str]:
    if not text.isascii():
        raise ValueError(f"the training text is ASCII, got {text!r}")
    return _ASCII_PATTERN.findall(text)


def merge(parts: list[str], pair: tuple[str, str]) -> list[str]:
    """Replaces every occurrence of `pair`, from the left, by its join."""
    merged: list[str] = []
    i = 0
    while i < len(parts):
        if i + 1 < len(parts) and (parts[i], parts[i + 1]) == pair:
            merged.append(parts[i] + parts[i + 1])
            i += 2
        else:
            merged.append(parts[i])
            i += 1
    return merged


def learn(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Merges the most frequent pair, ties by spelling, until the vocabulary
    (bytes, merges and the end-of-text token) is full or every piece is one
    token."""
    symbols = byte_symbols()
    words = Counter(piece for text in texts for piece in split(text))
    parts_of = {w: [symbols[b] for b in w.encode()] for w in sorted(words)}
    merges: list[tuple[str, str]] = []
    while len(symbols) + len(merges) + 1 < vocabulary:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, parts in parts_of.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += words[word]
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        parts_of = {w: merge(parts, best) for w, parts in parts_of.items()}
    return Tokenizer(merges)
