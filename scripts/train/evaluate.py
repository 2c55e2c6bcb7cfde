#!/usr/bin/env python3
"""Asks a checkpoint its held-out prompts, in PyTorch, and prints the accuracy.

    /usr/bin/python3 scripts/train/evaluate.py models/tessera-tiny

Exit code 1 if fewer than 990 of 1,000 are right.
"""

import argparse
import json
from pathlib import Path

import torch

import bpe
import qwen3
from train import LONGEST_ANSWER


def task_of(prompt: str) -> str:
    word = prompt.split()[0]
    return word if word in ("sort", "count") else {"+": "add", "-": "subtract"}[prompt.split()[1]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path, help="folder of the checkpoint")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    model = qwen3.load(options.model)
    tokenizer = bpe.Tokenizer.from_json((options.model / "tokenizer.json").read_text())
    lines = (options.model / "heldout.jsonl").read_text().splitlines()
    questions = [json.loads(line) for line in lines]
    answers = model.generate(
        [tokenizer.encode(q["prompt"]) for q in questions], tokenizer.end_of_text, LONGEST_ANSWER
    )
    right: dict[str, int] = {}
    asked: dict[str, int] = {}
    for question, ids in zip(questions, answers):
        task = task_of(question["prompt"])
        answer = tokenizer.decode(ids)
        asked[task] = asked.get(task, 0) + 1
        right[task] = right.get(task, 0) + (answer == question["completion"])
        if answer != question["completion"]:
            print(f"wrong: {question['prompt']}{answer}   (right:{question['completion']})")
    for task in asked:
        print(f"{task:10s} {right[task]:4d} of {asked[task]}")
    total = sum(right.values())
    print(f"{'all':10s} {total:4d} of {len(questions)}")
    raise SystemExit(total * 1000 < 990 * len(questions))


if __name__ == "__main__":
    main()
