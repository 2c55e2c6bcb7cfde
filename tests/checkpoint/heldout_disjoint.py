#!/usr/bin/env python3
"""Proves that the held-out prompts of the shipped checkpoint were not trained on.

The chain: `training.json`, which the training script wrote, holds the SHA-256
of the text that it trained on; the generator gives that very text again; and
no held-out prompt is in it, neither as it stands nor in disguise (operands
exchanged, digits in another order, counted the other way). The disguises and
the right answers are worked out here from the prompts' words alone, by code
that shares nothing with the generator.

Standard library only. Usage: heldout_disjoint.py [MODEL_FOLDER]
"""

import hashlib
import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "models" / "tessera-tiny"
sys.path.insert(0, str(ROOT / "scripts" / "train"))
sys.dont_write_bytecode = True

import bpe  # noqa: E402
import problems  # noqa: E402

UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
         "eighteen", "nineteen"]
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
        "eighty": 80, "ninety": 90}


def number(words: str) -> int:
    if words == "a hundred":
        return 100
    if words in UNITS:
        return UNITS.index(words)
    tens, _, unit = words.partition("-")
    return TENS[tens] + (UNITS.index(unit) if unit else 0)


def understand(prompt: str) -> tuple[tuple, str]:
    """What the prompt asks, without its disguise, and the right answer with
    numbers in figures. Fails on a prompt of no known form."""
    if match := re.fullmatch(r"(\d\d?) ([+-]) (\d\d?) =", prompt):
        a, b = int(match[1]), int(match[3])
        answer = a + b if match[2] == "+" else a - b
        return (match[2], frozenset((a, b))), str(answer)
    if match := re.fullmatch(r"sort (\d(?: \d){0,5}):", prompt):
        digits = sorted(map(int, match[1].split()))
        return ("sort", tuple(digits)), " ".join(map(str, digits))
    if match := re.fullmatch(r"count (down )?from (.+?) to (.+?)(?: by (.+))?:", prompt):
        first, last = number(match[2]), number(match[3])
        step = number(match[4]) if match[4] else 1
        assert (last < first) == bool(match[1]), prompt
        assert (last - first) % step == 0, prompt
        numbers = []
        current = first
        while current != last:
            numbers.append(current)
            current += -step if match[1] else step
        numbers.append(last)
        return ("count", frozenset((first, last)), step), ", ".join(map(str, numbers))
    raise AssertionError(f"unknown form of prompt: {prompt!r}")


def figures(completion: str) -> str:
    """The completion with number words as figures."""
    if re.search("[a-z]", completion):
        return ", ".join(str(number(w)) for w in completion.strip().split(", "))
    return completion.strip()


class HeldOut(unittest.TestCase):
    model = MODEL

    @classmethod
    def setUpClass(cls):
        lines = (cls.model / "heldout.jsonl").read_text().splitlines()
        cls.held_out = [json.loads(line) for line in lines]
        cls.record = json.loads((cls.model / "training.json").read_text())
        cls.training = problems.training_problems()

    def test_the_generator_gives_the_text_that_was_trained_on(self):
        text = "".join(p.text + "\n" for p in self.training)
        self.assertEqual(len(self.training), self.record["training_problems"])
        self.assertEqual(
            hashlib.sha256(text.encode()).hexdigest(), self.record["training_text_sha256"]
        )

    def test_the_tokenizer_was_learnt_from_that_text(self):
        learnt = bpe.learn((p.text for p in self.training), vocabulary=512)
        self.assertEqual(learnt.to_json(), (self.model / "tokenizer.json").read_text())

    def test_a_thousand_different_prompts_from_the_generator(self):
        expected = [
            {"prompt": p.prompt, "completion": p.completion}
            for p in problems.heldout_problems(1000)
        ]
        self.assertEqual(self.held_out, expected)
        self.assertEqual(len({line["prompt"] for line in self.held_out}), 1000)

    def test_every_task_is_asked(self):
        asked = [understand(line["prompt"])[0][0] for line in self.held_out]
        for task in ("+", "-", "sort", "count"):
            self.assertEqual(asked.count(task), 250, task)

    def test_no_held_out_prompt_is_in_the_training_text(self):
        trained = {p.prompt for p in self.training}
        self.assertEqual(len(trained), len(self.training), "the training text repeats itself")
        found = [line["prompt"] for line in self.held_out if line["prompt"] in trained]
        self.assertEqual(found, [])

    def test_no_held_out_problem_is_in_the_training_text_in_disguise(self):
        trained = {understand(p.prompt)[0] for p in self.training}
        found = [
            line["prompt"] for line in self.held_out if understand(line["prompt"])[0] in trained
        ]
        self.assertEqual(found, [])

    def test_the_answers_are_right(self):
        for line in self.held_out:
            _, answer = understand(line["prompt"])
            self.assertEqual(figures(line["completion"]), answer, line["prompt"])
        for p in self.training:
            self.assertEqual(figures(p.completion), understand(p.prompt)[1], p.prompt)

    def test_a_leak_would_be_noticed(self):
        trained = {understand(p.prompt)[0] for p in self.training}
        addition = next(p for p in self.training if p.task == "add")
        a, b = re.findall(r"\d+", addition.prompt)
        self.assertIn(understand(f"{b} + {a} =")[0], trained)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        HeldOut.model = Path(sys.argv.pop(1))
    unittest.main()
