#!/usr/bin/env python3
"""The shipped model through the command line: right on at least 990 of its 1,000 held-out prompts.

    heldout_accuracy.py TESSERA
"""
import json
import pathlib
import subprocess
import sys
import tempfile

MODEL = pathlib.Path(__file__).resolve().parents[2] / "models/tessera-tiny"
NEEDED = 990


def main():
    tessera = sys.argv[1]
    problems = [json.loads(line) for line in (MODEL / "heldout.jsonl").read_text().splitlines()]
    assert len(problems) == 1000, f"{len(problems)} held-out prompts"
    with tempfile.TemporaryDirectory() as folder:
        artefact = pathlib.Path(folder) / "tiny.tsr"
        subprocess.run([tessera, "compile", MODEL, "-o", artefact, "--quiet"], check=True)
        wrong = []
        for problem in problems:
            run = subprocess.run([tessera, "run", artefact, "-p", problem["prompt"], "-n", "72"],
                                 check=True, capture_output=True, text=True)
            if run.stdout.removesuffix("\n") != problem["completion"]:
                wrong.append(f"{problem['prompt']}{run.stdout.rstrip()}   expected:{problem['completion']}")
    print("\n".join(wrong))
    print(f"{len(problems) - len(wrong)} of {len(problems)} right, {NEEDED} needed")
    return 0 if len(problems) - len(wrong) >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
