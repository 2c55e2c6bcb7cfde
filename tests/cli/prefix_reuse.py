#!/usr/bin/env python3
"""Talks with a model twice, with what was read before used again and without: the texts must be the same to the last byte.

Usage: prefix_reuse.py TESSERA MODEL [FLAG OF CHAT]..

Greedy, and drawn with two seeds. A model without a chat template needs --chat-template FILE. Something must have been used again, or nothing was checked.
"""

import re
import subprocess
import sys

LINES = """What is the capital of France?
And of Japan? Answer in one sentence.
/stats
Name three rivers in Europe, with the countries that they flow through.
/retry
Write a short poem about the second one.
/stats
/system Answer like a pirate.
What did I ask you first?
Tell me how to cook rice in five steps.
/stats
Shorten that to two steps.
"""
WAYS = [[], ["--temp", "0.8", "--top-p", "0.9", "-s", "7"], ["--temp", "1.2", "-s", "8"]]


def talk(tessera, model, *flags):
    done = subprocess.run([tessera, "chat", model, "-n", "160", "--temperature", "0", *flags], input=LINES.encode(), capture_output=True)
    known = sum(int(count) for count in re.findall(rb"; (\d+) were known", done.stderr))
    if done.returncode != 0:
        sys.exit(done.stderr.decode())
    return done.stdout, known


def main():
    tessera, model, *flags = sys.argv[1:]
    failures = 0
    for way in WAYS:
        text, known = talk(tessera, model, *flags, *way)
        fresh, none = talk(tessera, model, *flags, *way, "--no-prefix-reuse")
        is_good = text == fresh and known > 0 and none == 0
        failures += not is_good
        print("same" if is_good else "FAILED", f"{len(text)} bytes, {known} tokens were known at /stats", *way)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
