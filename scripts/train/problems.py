#!/usr/bin/env python3
"""The text that the shipped checkpoint is trained and tested on.

Four tasks, each a line whose right continuation is known:

    12 + 34 = 46
    34 - 57 = -23
    sort 4 1 3 9: 1 3 4 9
    count from ten to twenty by five: ten, fifteen, twenty
    count down from three to zero: three, two, one, zero

Every problem belongs to one side of a partition, training or held out, that
depends on nothing but the seed and the problem's *canonical key*. The key
forgets what would make a held-out problem a disguised training problem: the
order of the operands of + and -, the order of the digits to sort, the
direction of counting. So `34 + 12` is never trained on if `12 + 34` is held
out, and no held-out multiset of digits is ever sorted in the training text.

Standard library only, and independent of the version of Python: the hash is
BLAKE2b and the generator of random numbers is written out below.

    problems.py training            the training text, one problem a line
    problems.py heldout [--count N] held-out problems as JSON lines
"""

import argparse
import hashlib
import json
import sys
from typing import Iterator, NamedTuple

SEED = 6
HELD_OUT_OF_TEN = 1  # tenths of the canonical keys that are held out
SORTS_PER_LENGTH = 20_000  # for lengths whose 10^n problems are too many
MAX_DIGITS = 6
MAX_STEP = 10
MAX_WORDS = 21  # zero to a hundred by five

TASKS = ("add", "subtract", "sort", "count")


class Problem(NamedTuple):
    task: str
    key: str  # canonical: equal for problems that give each other away
    prompt: str
    completion: str

    @property
    def text(self) -> str:
        return self.prompt + self.completion


class Random:
    """SplitMix64 (Steele, Lea, Flood 2014): the same stream everywhere."""

    def __init__(self, seed: int):
        self._state = seed & 0xFFFF_FFFF_FFFF_FFFF

    def next(self) -> int:
        mask = 0xFFFF_FFFF_FFFF_FFFF
        self._state = (self._state + 0x9E37_79B9_7F4A_7C15) & mask
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB) & mask
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """Uniform in [0, bound); the bias of 2^-64 * bound is of no account."""
        return (self.next() * bound) >> 64


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def is_held_out(problem: Problem, seed: int = SEED) -> bool:
    return _hash(f"{seed}/{problem.task}/{problem.key}") % 10 < HELD_OUT_OF_TEN


def number_word(n: int) -> str:
    """English for n in [0, 100]."""
    small = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen "
        "fourteen fifteen sixteen seventeen eighteen nineteen"
    ).split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    if n < 20:
        return small[n]
    if n == 100:
        return "a hundred"
    return tens[n // 10 - 2] + ("-" + small[n % 10] if n % 10 else "")


def add(a: int, b: int) -> Problem:
    return Problem("add", f"{min(a, b)},{max(a, b)}", f"{a} + {b} =", f" {a + b}")


def subtract(a: int, b: int) -> Problem:
    return Problem("subtract", f"{min(a, b)},{max(a, b)}", f"{a} - {b} =", f" {a - b}")


def sort(digits: tuple[int, ...]) -> Problem:
    ordered = " ".join(map(str, sorted(digits)))
    return Problem("sort", ordered, f"sort {' '.join(map(str, digits))}:", f" {ordered}")


def count(first: int, last: int, step: int) -> Problem:
    """Counts from `first` to `last`, which lies a multiple of `step` away."""
    down = last < first
    numbers = range(first, last - 1, -step) if down else range(first, last + 1, step)
    by = f" by {number_word(step)}" if step > 1 else ""
    prompt = (
        f"count {'down ' if down else ''}from {number_word(first)} to {number_word(last)}{by}:"
    )
    completion = " " + ", ".join(map(number_word, numbers))
    return Problem("count", f"{min(first, last)},{max(first, last)},{step}", prompt, completion)


def additions() -> Iterator[Problem]:
    return (add(a, b) for a in range(100) for b in range(100))


def subtractions() -> Iterator[Problem]:
    return (subtract(a, b) for a in range(100) for b in range(100))


def counts() -> Iterator[Problem]:
    for step in range(1, MAX_STEP + 1):
        for words in range(3, MAX_WORDS + 1):
            span = step * (words - 1)
            for first in range(0, 101 - span):
                yield count(first, first + span, step)
                yield count(first + span, first, step)


def _digits(index: int, length: int) -> tuple[int, ...]:
    return tuple(index // 10**i % 10 for i in reversed(range(length)))


def training_problems(seed: int = SEED) -> list[Problem]:
    """Every problem that training may see, each once, in a fixed order."""
    problems = [
        p
        for family in (additions(), subtractions(), counts())
        for p in family
        if not is_held_out(p, seed)
    ]
    random = Random(seed)
    for length in range(1, MAX_DIGITS + 1):
        space = 10**length
        if space <= SORTS_PER_LENGTH:
            chosen = (sort(_digits(i, length)) for i in range(space))
            problems += (p for p in chosen if not is_held_out(p, seed))
            continue
        taken: dict[int, Problem] = {}
        while len(taken) < SORTS_PER_LENGTH:
            index = random.below(space)
            problem = sort(_digits(index, length))
            if not is_held_out(problem, seed):
                taken[index] = problem
        problems += taken.values()
    return problems


def heldout_problems(how_many: int, seed: int = SEED) -> list[Problem]:
    """`how_many` different held-out problems, the tasks in equal parts."""
    chosen: list[Problem] = []
    for position, task in enumerate(TASKS):
        quota = how_many * (position + 1) // len(TASKS) - how_many * position // len(TASKS)
        if task == "sort":
            chosen += _heldout_sorts(quota, seed)
            continue
        family = {"add": additions, "subtract": subtractions, "count": counts}[task]()
        candidates = [p for p in family if is_held_out(p, seed)]
        if len(candidates) < quota:
            raise SystemExit(f"only {len(candidates)} held-out problems of task {task}")
        candidates.sort(key=lambda p: _hash(f"{seed}/choice/{p.prompt}"))
        chosen += candidates[:quota]
    return chosen


def _heldout_sorts(quota: int, seed: int) -> list[Problem]:
    random = Random(_hash(f"{seed}/heldout sorts"))
    taken: dict[str, Problem] = {}
    while len(taken) < quota:
        length = 2 + random.below(MAX_DIGITS - 1)
        problem = sort(_digits(random.below(10**length), length))
        if is_held_out(problem, seed):
            taken[problem.prompt] = problem
    return list(taken.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("training", "heldout"))
    parser.add_argument("--count", type=int, default=1000, help="held-out problems (1000)")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the partition ({SEED})")
    options = parser.parse_args()
    if options.what == "training":
        for problem in training_problems(options.seed):
            sys.stdout.write(problem.text + "\n")
    else:
        for problem in heldout_problems(options.count, options.seed):
            line = {"prompt": problem.prompt, "completion": problem.completion}
            sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
