#!/usr/bin/env python3
"""Kills ranks at random moments: every run must end within 10 seconds with a message and an exit code that is not 0, and
leave no process, no shared memory, no socket and no file behind.

Usage: rank_deaths.py TESSERA [--kills N] [--seed S] [--model MODEL] [--ranks R]

The ranks are processes that mpirun starts.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MOST_SECONDS = 10  # from the death of a rank to the end of the run
MARK = "TESSERA_RANK_DEATHS_MARK"


class RankDeaths:
    def __init__(self, arguments):
        self.tessera, self.model = str(arguments.tessera.resolve()), str(arguments.model.resolve())
        self.kills, self.ranks, self.random = arguments.kills, arguments.ranks, random.Random(arguments.seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-rank-deaths-"))
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.mark = f"{os.getpid()}-{self.random.random()}"
        self.failures, self.slowest = 0, 0.0

    def start(self, *words):
        environment = dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache"), TMPDIR=str(self.temporary),
                           **{MARK: self.mark})  # fmt: skip
        return subprocess.Popen([*map(str, words)], cwd=self.folder, env=environment, text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip

    def marked(self):
        """Processes of a run, with those that have lost their parents."""
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                pass  # it has ended, or is another user's
        return sorted(found)

    def ranks_of(self, pids):
        found = []
        for pid in pids:
            try:
                if os.readlink(f"/proc/{pid}/exe") == self.tessera:
                    found.append(pid)
            except OSError:
                pass
        return found

    def expect(self, holds, what):
        if not holds:
            self.failures += 1
            print("FAILED:", what, flush=True)

    def left(self):
        shared = {str(path) for path in pathlib.Path("/dev/shm").iterdir()}
        files = {str(path.relative_to(self.temporary)) for path in self.temporary.rglob("*") if not path.is_dir()}
        return shared, files

    def prepare(self):
        code = self.start(self.tessera, "compile", self.model, "-o", "ranks.tsr", "-q", "--ranks", self.ranks,
                          "--workers", 1, "--search-effort", 0).wait()  # fmt: skip
        assert code == 0, "the model cannot be compiled for ranks"

    def kill_once(self, number, seconds):
        shared, files_before = self.left()
        run = self.start("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", self.ranks, self.tessera, "bench", "ranks.tsr", "--prefill", 16, "--decode", 256,
                         "--repeat", 1_000_000)  # fmt: skip
        deadline = time.monotonic() + 60
        while len(victims := self.ranks_of(self.marked())) < self.ranks and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(self.random.uniform(0, seconds))
        victim = self.random.choice(victims)
        how = self.random.choice([signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
        what = f"run {number}, {how.name} to rank process {victim}"
        self.expect(run.poll() is None, f"{what}: the run ended by itself")
        os.kill(victim, how)
        begin = time.monotonic()
        try:
            _, errors = run.communicate(timeout=MOST_SECONDS)
        except subprocess.TimeoutExpired:
            self.expect(False, f"{what}: hangs")
            for pid in self.marked():
                os.kill(pid, signal.SIGKILL)
            run.communicate()
            return  # what it has left behind does not count again
        while self.marked() and time.monotonic() < begin + MOST_SECONDS:
            time.sleep(0.005)
        taken = time.monotonic() - begin
        self.slowest = max(self.slowest, taken)
        message = [line for line in errors.splitlines() if "weights" not in line and "asleep" not in line]
        print(f"{what}: code {run.returncode} after {taken:.2f} s: {' '.join(message)[:150]}", flush=True)
        self.expect(run.returncode != 0, f"{what}: exit code 0")
        self.expect(any("rank" in line or "signal" in line for line in message), f"{what}: no message, but {errors!r}")
        self.expect(not self.marked(), f"{what}: processes {self.marked()} run after {MOST_SECONDS} s")
        now_shared, files = self.left()
        self.expect(not (now_shared - shared), f"{what}: left {sorted(now_shared - shared)}")
        self.expect(not (files - files_before), f"{what}: left {sorted(files - files_before)} in the temporary folder")

    def run_all(self):
        self.prepare()
        for number in range(self.kills):
            self.kill_once(number, seconds=2)
        print(f"{self.kills} deaths, {self.failures} failures; the slowest end took {self.slowest:.2f} s")
        return self.failures


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--model", type=pathlib.Path, default=root / "models/tessera-tiny")
    if not shutil.which("mpirun"):
        parser.error("mpirun is missing")
    deaths = RankDeaths(parser.parse_args())
    try:
        return 1 if deaths.run_all() else 0
    finally:
        for pid in deaths.marked():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(deaths.folder)


if __name__ == "__main__":
    sys.exit(main())
