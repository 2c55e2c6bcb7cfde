#!/usr/bin/env python3
"""Trains the checkpoint that ships with Tessera.

    /usr/bin/python3 scripts/train/train.py --out models/tessera-tiny

PyTorch (Debian: python3-torch, with libopenblas0-pthread for its speed), two
threads. Only completions are learnt: prompts are random and would spend the
model's capacity on noise. The weights that ship are an exponential moving
average of those that the optimizer walks through. Every `--report` steps the
average is tried on a development set, which is held out too but shares no
problem with the 1,000 that ship; the best is written at once, so the folder
always holds a usable checkpoint.
"""

import argparse
import copy
import hashlib
import json
import math
import time
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

import bpe
import problems
from qwen3 import Config, Qwen3, save_safetensors

IGNORED = -100  # cross_entropy's default for targets that do not count

# Problems of each task in one step, each task in parts of similar length.
BATCH = {"add": 96, "subtract": 128, "sort": 24, "count": 48}
PARTS = {"add": 1, "subtract": 1, "sort": 1, "count": 3}
SHIPPED_HELD_OUT = 1000
LONGEST_ANSWER = 72  # tokens: 21 number words of two tokens, commas, end


class Shuffled:
    """The training problems of one task in endless shuffled epochs."""

    def __init__(self, sequences: list[tuple[list[int], int]], padding: int, seed: int):
        longest = max(len(ids) for ids, _ in sequences)
        self._ids = torch.full((len(sequences), longest), padding)
        self._targets = torch.full((len(sequences), longest), IGNORED)
        for row, (ids, prompt) in enumerate(sequences):
            self._ids[row, : len(ids)] = torch.tensor(ids)
            self._targets[row, prompt - 1 : len(ids) - 1] = torch.tensor(ids[prompt:])
        self._lengths = torch.tensor([len(ids) for ids, _ in sequences])
        self._random = torch.Generator().manual_seed(seed)
        self._order = torch.empty(0, dtype=torch.long)

    def draw(self, count: int, parts: int) -> list[tuple[Tensor, Tensor]]:
        """`count` problems, the short ones apart from the long ones so that
        little is padded: inputs and targets, each [members, longest]."""
        while len(self._order) < count:
            epoch = torch.randperm(len(self._lengths), generator=self._random)
            self._order = torch.cat((self._order, epoch))
        rows, self._order = self._order[:count], self._order[count:]
        drawn = []
        for part in rows[self._lengths[rows].argsort()].chunk(parts):
            tokens = int(self._lengths[part].max()) - 1
            drawn.append((self._ids[part, :tokens], self._targets[part, :tokens]))
        return drawn


def accuracy(
    model: Qwen3, tokenizer: bpe.Tokenizer, questions: list[problems.Problem]
) -> dict[str, tuple[int, int]]:
    """Right answers and questions by task. An answer is the whole greedy
    continuation up to the end-of-text token, compared as text."""
    answers = model.generate(
        [tokenizer.encode(q.prompt) for q in questions], tokenizer.end_of_text, LONGEST_ANSWER
    )
    score = {task: (0, 0) for task in problems.TASKS}
    for question, answer in zip(questions, answers):
        right, asked = score[question.task]
        score[question.task] = (
            right + (tokenizer.decode(answer) == question.completion),
            asked + 1,
        )
    return score


def learning_rate(step: int, steps: int, peak: float, warmup: int = 200) -> float:
    """Linear warm-up, then half a cosine to a hundredth of the peak."""
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / max(1, steps - warmup)
    return peak * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * progress)))


def write_record(options: argparse.Namespace, training: list[problems.Problem]) -> None:
    """What a test needs to prove that the held-out problems were held out."""
    text = "".join(p.text + "\n" for p in training)
    record = {
        "training_problems": len(training),
        "training_text_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "partition_seed": problems.SEED,
        "seed": options.seed,
        "steps": options.steps,
        "peak_learning_rate": options.learning_rate,
        "problems_per_step": BATCH,
    }
    (options.out / "training.json").write_text(json.dumps(record, indent=2) + "\n")
    lines = [
        json.dumps({"prompt": p.prompt, "completion": p.completion}) + "\n"
        for p in problems.heldout_problems(SHIPPED_HELD_OUT)
    ]
    (options.out / "heldout.jsonl").write_text("".join(lines))


def train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    started = time.monotonic()

    training = problems.training_problems()
    shipped = {p.prompt for p in problems.heldout_problems(SHIPPED_HELD_OUT)}
    development = [
        p for p in problems.heldout_problems(2 * SHIPPED_HELD_OUT) if p.prompt not in shipped
    ]
    tokenizer = bpe.learn((p.text for p in training), vocabulary=512)
    config = Config(vocab_size=len(tokenizer))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "tokenizer.json").write_text(tokenizer.to_json())
    (options.out / "config.json").write_text(config.to_json(tokenizer.end_of_text))

    write_record(options, training)

    model = Qwen3(config)
    average = copy.deepcopy(model).eval()
    sources = {}
    for position, task in enumerate(problems.TASKS):
        sequences = []
        for p in training:
            if p.task == task:
                prompt = tokenizer.encode(p.prompt)
                ids = prompt + tokenizer.encode(p.completion) + [tokenizer.end_of_text]
                sequences.append((ids, len(prompt)))
        sources[task] = Shuffled(sequences, tokenizer.end_of_text, options.seed + position)

    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
        betas=(0.9, 0.98),
    )
    size = sum(p.numel() for p in model.parameters())
    print(f"{size} parameters, {len(tokenizer)} tokens, {len(training)} problems", flush=True)

    best = -1
    for step in range(options.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, options.steps, options.learning_rate)
        loss_of = {}
        for task, count in BATCH.items():
            drawn = sources[task].draw(count, PARTS[task])
            learnt = sum(int((targets != IGNORED).sum()) for _, targets in drawn)
            loss_of[task] = 0.0
            for ids, targets in drawn:
                counted = targets != IGNORED
                hidden = model.hidden(ids)[counted]  # logits only where they count
                loss = functional.cross_entropy(
                    model.logits(hidden), targets[counted], reduction="sum"
                )
                (loss / learnt).backward()
                loss_of[task] += loss.item() / learnt
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        decay = min(0.998, (step + 1) / (step + 10))
        with torch.no_grad():
            for kept, new in zip(average.parameters(), model.parameters()):
                kept.lerp_(new, 1 - decay)

        if (step + 1) % 50 == 0:
            losses = " ".join(f"{task} {loss:.4f}" for task, loss in loss_of.items())
            print(f"{step + 1:6d} {time.monotonic() - started:6.0f} s  {losses}", flush=True)
        if (step + 1) % options.report == 0 or step + 1 == options.steps:
            score = accuracy(average, tokenizer, development)
            total = sum(right for right, _ in score.values())
            print("development:", score, total, flush=True)
            if total >= best:  # of equals the later, which has trained longer
                best = total
                save_safetensors(options.out / "model.safetensors", average.state_dict())
    print(f"trained in {time.monotonic() - started:.0f} s, best {best} of {len(development)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--learning-rate", type=float, default=2e-3, help="peak (2e-3)")
    parser.add_argument("--report", type=int, default=500, help="steps between trials (500)")
    parser.add_argument("--seed", type=int, default=6, help="of initial weights and order (6)")
    parser.add_argument("--threads", type=int, default=2)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
