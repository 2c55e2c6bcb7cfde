"""Follows the sessions of a page of docs/ literally.

Usage: follow_session.py PAGE --source DIR --build DIR [--exact]

The blocks ```console of the page are one session, in an empty folder that has links to models/, docs/ and machines/. A line that begins
with `$ ` is run by the shell, with `tessera` in PATH; the lines up to the next one are what it must print. Numbers
with a point, such as times, may be others: what lies how, and in which order, may not. A line `...` stands for any lines.
With --exact no number may be another but those that are followed by a unit of time. A block ```LANGUAGE file=NAME becomes that
file in the folder before the session begins.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```\w+ file=([\w.]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+\.\d+(e-?\d+)?")
TIME = re.compile(r"\d+\.\d+ (us|ms|s)\b")


def pattern_of(lines, numbers):
    """What the command must print, as a regular expression."""
    parts = [r"(?:.*\n)*?" if line == "..." else re.escape(numbers.sub("#", line)) + r"\n" for line in lines]
    return re.compile("".join(parts))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--exact", action="store_true")
    arguments = parser.parse_args()
    numbers = TIME if arguments.exact else NUMBER
    page = arguments.page.read_text(encoding="utf-8")
    commands = []  # [command, expected lines]
    for block in BLOCK.findall(page):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append([line[2:], []])
            else:
                commands[-1][1].append(line)
    if not commands:
        sys.exit(f"FAILED: {arguments.page} has no session")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("models", "docs", "machines"):
            os.symlink(arguments.source.resolve() / name, pathlib.Path(folder) / name)
        for name, text in FILE.findall(page):
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        environment = dict(os.environ, PATH=f"{arguments.build.resolve()}:{os.environ['PATH']}",
                           XDG_CACHE_HOME=str(pathlib.Path(folder) / ".cache"))
        for command, lines in commands:
            print("$", command, flush=True)
            result = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            print(result.stdout, flush=True)
            if result.returncode != 0:
                sys.exit(f"FAILED: exit code {result.returncode}")
            if not pattern_of(lines, numbers).fullmatch(numbers.sub("#", result.stdout)):
                sys.exit("FAILED: the page has\n" + "\n".join(lines))
    print("passed")


if __name__ == "__main__":
    main()
