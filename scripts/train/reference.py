#!/usr/bin/env python3
"""Writes the reference that tests compare the compiled checkpoint with.

    /usr/bin/python3 scripts/train/reference.py models/tessera-tiny

Into MODEL/reference, computed in float64 from the F32 weights:

    ids.json     prompt ids: a long count, broken off after some words
    greedy.json  the ids that greedy decoding appends to them
    logits.bin   [prompt + greedy, vocabulary] little-endian F32, row-major:
                 the logits after every prompt id and after every greedy id

Refuses to write if the continuation is wrong, or if two logits compete for a
greedy id more closely than arithmetic in F32 could decide.
"""

import argparse
import json
from pathlib import Path

import torch

import bpe
import problems
import qwen3

QUESTION = problems.count(98, 2, 6)
GREEDY = 20  # ids left to greedy decoding, the end-of-text token the last
SAFE_MARGIN = 0.05  # in logits, whose F32 error is of the order of 1e-5


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path, help="folder of the checkpoint")
    folder = parser.parse_args().model

    model = qwen3.load(folder).double()
    tokenizer = bpe.Tokenizer.from_json((folder / "tokenizer.json").read_text())
    whole = tokenizer.encode(QUESTION.text) + [tokenizer.end_of_text]
    prompt = whole[:-GREEDY]
    ids = list(prompt)
    for _ in range(GREEDY):
        top = model(torch.tensor([ids]))[0, -1].topk(2)
        margin = (top.values[0] - top.values[1]).item()
        if margin < SAFE_MARGIN:
            raise SystemExit(f"margin {margin:.3g} at position {len(ids)} is too narrow")
        ids.append(int(top.indices[0]))
    if ids != whole:
        raise SystemExit(f"wrong continuation: {tokenizer.decode(ids[:-1])}")
    logits = model(torch.tensor([ids]))[0]

    out = folder / "reference"
    out.mkdir(exist_ok=True)
    (out / "ids.json").write_text(json.dumps(prompt) + "\n")
    (out / "greedy.json").write_text(json.dumps(ids[len(prompt) :]) + "\n")
    (out / "logits.bin").write_bytes(logits.numpy().astype("<f4").tobytes())
    print(f"{len(prompt)} prompt ids, {GREEDY} greedy ids, logits {list(logits.shape)}")
    print(tokenizer.decode(prompt), "|", tokenizer.decode(ids[len(prompt) : -1]))


if __name__ == "__main__":
    main()
