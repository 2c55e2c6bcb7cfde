#!/usr/bin/env python3
"""Trains the checkpoint that ships with Tessera.

    scripts/train/train.sh models/tessera-tiny
    scripts/train/train.sh models/tessera-tiny --stage 2

PyTorch (Debian: python3-torch, with libopenblas0-openmp for its speed), two
threads. Only completions are learnt: prompts are random and would spend the
model's capacity on noise. The weights that ship are an exponential moving
average of those that the optimizer walks through. Now and then the average
is tried on a development set, which is held out too but shares no
problem with the 1,000 that ship; the best is written at once, so the folder
always holds a usable checkpoint.
"""

import argparse
import copy
import hashlib
import json
import math
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

import bpe
import problems
from qwen3 import Config, Qwen3, load_safetensors, save_safetensors

IGNORED = -100  # cross_entropy's default for targets that do not count


@dataclass(frozen=True)
class Stage:
    """One run of the optimizer, from a fresh state of Adam."""

    steps: int
    schedule: int  # steps of the learning rate's half cosine, at least `steps`
    peak_learning_rate: float
    warmup: int  # steps
    trial_every: int  # steps
    problems_per_step: dict[str, int]  # by source
    parts: dict[str, int]  # batches per step of a source with uneven lengths


BY_ONE = "count by one"  # a source: the counts whose prompt names no step

# The first stage learns everything but the end of a count by one, which nothing
# but both digits of the last number tells; the second stage is practice in it.
STAGES = {
    1: Stage(
        steps=3000,
        schedule=4000,
        peak_learning_rate=2e-3,
        warmup=200,
        trial_every=500,
        problems_per_step={"add": 96, "subtract": 128, "sort": 24, "count": 48},
        parts={"count": 3},
    ),
    2: Stage(
        steps=600,
        schedule=600,
        peak_learning_rate=5e-4,
        warmup=50,
        trial_every=150,
        problems_per_step={"add": 32, "subtract": 48, "sort": 12, "count": 16, BY_ONE: 32},
        parts={"count": 2, BY_ONE: 2},
    ),
}

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


def report(
    model: Qwen3, tokenizer: bpe.Tokenizer, questions: list[problems.Problem]
) -> int:
    """Prints the accuracy and returns the number of right answers."""
    score = accuracy(model, tokenizer, questions)
    total = sum(right for right, _ in score.values())
    print("development:", score, total, flush=True)
    return total


def learning_rate(step: int, stage: Stage) -> float:
    """Linear warm-up, then half a cosine to a hundredth of the peak."""
    if step < stage.warmup:
        return stage.peak_learning_rate * (step + 1) / stage.warmup
    progress = (step - stage.warmup) / (stage.schedule - stage.warmup)
    return stage.peak_learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * progress)))


def write_record(options: argparse.Namespace, training: list[problems.Problem]) -> None:
    """What a test needs to prove that the held-out problems were held out."""
    text = "".join(p.text + "\n" for p in training)
    record = {
        "training_problems": len(training),
        "training_text_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "partition_seed": problems.SEED,
        "seed": options.seed,
        "stages": [asdict(STAGES[i]) for i in range(1, options.stage + 1)],
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

    stage = STAGES[options.stage]
    model = Qwen3(config)
    best = -1
    if options.stage > 1:
        model.load_state_dict(load_safetensors(options.out / "model.safetensors"))
        best = report(model, tokenizer, development)
    average = copy.deepcopy(model).eval()
    sources = {}
    for position, source in enumerate(stage.problems_per_step):
        sequences = []
        for p in training:
            if p.task == source or (source == BY_ONE and p.task == "count" and "by" not in p.prompt):
                prompt = tokenizer.encode(p.prompt)
                ids = prompt + tokenizer.encode(p.completion) + [tokenizer.end_of_text]
                sequences.append((ids, len(prompt)))
        sources[source] = Shuffled(sequences, tokenizer.end_of_text, options.seed + position)

    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
        betas=(0.9, 0.98),
    )
    size = sum(p.numel() for p in model.parameters())
    print(f"{size} parameters, {len(tokenizer)} tokens, {len(training)} problems", flush=True)

    for step in range(stage.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, stage)
        loss_of = {}
        for task, count in stage.problems_per_step.items():
            drawn = sources[task].draw(count, stage.parts.get(task, 1))
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
        if (step + 1) % stage.trial_every == 0 or step + 1 == stage.steps:
            total = report(average, tokenizer, development)
            if total >= best:  # of equals the later, which has trained longer
                best = total
                save_safetensors(options.out / "model.safetensors", average.state_dict())
    print(f"trained in {time.monotonic() - started:.0f} s, best {best} of {len(development)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the checkpoint")
    parser.add_argument(
        "--stage", type=int, choices=sorted(STAGES), default=1, help="above 1: goes on from OUT"
    )
    parser.add_argument("--seed", type=int, default=6, help="of initial weights and order (6)")
    parser.add_argument("--threads", type=int, default=2)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
