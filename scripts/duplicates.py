#!/usr/bin/env python3
"""Finds code that stands in two places.

usage: scripts/duplicates.py [--lines N] [FOLDER...]     (default: six lines, src and include)

Two places count where N or more lines of code in a row are the same but for white space. Comments, blank lines, includes,
namespaces, and lines of brackets alone are no code. Pairs that scripts/duplicates.txt names, with the reason why they
stay, are left out; an entry that no longer fits a pair is reported, too. The exit code is 1 if anything is reported.
"""
import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NO_CODE = re.compile(r"(#include|#pragma|namespace |using [\w:]+;|}\s*// namespace|public:|private:|[\s{}()\[\];,]*$)")


def code_of(path):
    """(line number, text without white space and comments) of each line that is code."""
    lines, in_comment = [], False
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if in_comment:
            in_comment = "*/" not in text
            continue
        text = re.sub(r"/\*.*?\*/", "", text)
        text = re.sub(r"(^|\s)//.*", "", text)
        if "/*" in text:
            in_comment, text = True, text[: text.index("/*")]
        text = text.strip()
        if not NO_CODE.match(text):
            lines.append((number, re.sub(r"\s+", "", text)))
    return lines


def runs(files, least):
    """Maximal runs of equal lines: (count, (file, first line), (file, first line))."""
    windows = collections.defaultdict(list)
    for file, lines in files.items():
        for at in range(len(lines) - least + 1):
            windows[tuple(text for _, text in lines[at : at + least])].append((file, at))
    found, covered = [], set()
    for places in windows.values():
        for i, (file, at) in enumerate(places):
            for other, at_other in places[i + 1 :]:
                if (file, at, other, at_other) in covered:
                    continue
                one, two, count = files[file], files[other], 0
                limit = at_other - at if file == other else len(one)
                while (count < limit and at + count < len(one) and at_other + count < len(two)
                       and one[at + count][1] == two[at_other + count][1]):
                    covered.add((file, at + count, other, at_other + count))
                    count += 1
                if count >= least:
                    found.append((count, (file, one[at][0]), (other, two[at_other][0])))
    return sorted(found, reverse=True)


def allowed():
    """Entries of duplicates.txt: `FILE FILE: reason`."""
    entries = {}
    for line in (ROOT / "scripts/duplicates.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pair, reason = line.split(": ", 1)
            entries[frozenset(pair.split())] = reason
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=6, metavar="N")
    parser.add_argument("folders", nargs="*", default=["src", "include"], metavar="FOLDER")
    options = parser.parse_args()
    files = {}
    for folder in options.folders:
        if not (ROOT / folder).is_dir():
            parser.error(f"{folder} is no folder of the project")
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                files[str(path.relative_to(ROOT))] = code_of(path)
    entries, used, bad = allowed(), set(), False
    for count, (file, line), (other, line_other) in runs(files, options.lines):
        pair = frozenset((file, other))
        if pair in entries:
            used.add(pair)
            continue
        bad = True
        print(f"{count} lines: {file}:{line} and {other}:{line_other}")
    if options.lines == 6 and options.folders == ["src", "include"]:
        for pair in entries.keys() - used:
            bad = True
            print(f"scripts/duplicates.txt: {' '.join(sorted(pair))} share no code any more")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
