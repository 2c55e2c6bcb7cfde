#!/usr/bin/env python3
"""Kills compilations and first runs at random moments, fills disks, takes writing away, and compiles twice at once: no
half-written file may be accepted, and messages name the cause.

Usage: interruptions.py TESSERA [--kills N] [--seed S] [--model MODEL]

Needs an artefact that is the same to the last byte whenever it is compiled, which every model gives for one description of the
machine: a file, but where measuring is killed. The parts with full disks and a cache that cannot be written mount small file
systems, and are left out without the right to do so.
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

PROMPT = ["-p", "61 + 93 =", "-n", "12"]


class Interruptions:
    def __init__(self, arguments):
        self.tessera, self.model = str(arguments.tessera.resolve()), str(arguments.model.resolve())
        self.kills, self.random = arguments.kills, random.Random(arguments.seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-interruptions-"))
        self.failures = 0

    def start(self, *words, cache="cache", measures=False):
        environment = dict(os.environ, XDG_CACHE_HOME=str(self.folder / cache))
        environment.pop("TESSERA_NO_MEASURE", None)
        if self.model in words and not measures:
            words = [*words, "--machine", self.folder / "host.toml"]
        return subprocess.Popen([self.tessera, *map(str, words)], cwd=self.folder, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip

    def run(self, *words, cache="cache", measures=False):
        process = self.start(*words, cache=cache, measures=measures)
        output, errors = process.communicate()
        return process.returncode, output, errors

    def expect(self, holds, what):
        if not holds:
            self.failures += 1
            print("FAILED:", what, flush=True)

    def left_in(self, *folders):
        return sorted(str(path.relative_to(self.folder)) for folder in folders
                      for path in (self.folder / folder).rglob("*") if path.is_file())  # fmt: skip

    def is_whole(self, path):
        return path.read_bytes() == self.artefact

    def prepare(self):
        code, _, errors = self.run("machine", "-o", "host.toml")
        assert code == 0, errors
        start = time.monotonic()
        code, _, errors = self.run("compile", self.model, "-o", "whole.tsr", "-q")
        self.seconds = time.monotonic() - start
        assert code == 0, errors
        self.artefact = (self.folder / "whole.tsr").read_bytes()
        code, self.text, errors = self.run("run", "whole.tsr", *PROMPT)
        assert code == 0, errors
        print(f"a compilation takes {self.seconds:.1f} s, the artefact has {len(self.artefact)} bytes", flush=True)

    def kill_after(self, process, seconds):
        try:
            process.communicate(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return True

    def kill_compilations(self):
        """The whole group is killed, the C++ compiler too. Half of them begin with an empty cache."""
        killed = wholes = 0
        out = self.folder / "out.tsr"
        for number in range(self.kills):
            if number % 2 == 0:
                shutil.rmtree(self.folder / "cache", ignore_errors=True)
            out.unlink(missing_ok=True)
            process = self.start("compile", self.model, "-o", "out.tsr", "-q")
            killed += self.kill_after(process, self.random.uniform(0, 1.1) * self.seconds)
            if out.exists():
                wholes += 1
                self.expect(self.is_whole(out), f"kill {number}: out.tsr is there and not whole")
        code, _, errors = self.run("compile", self.model, "-o", "out.tsr", "-q")
        self.expect(code == 0 and self.is_whole(out), f"the compilation after all kills: {errors}")
        left = [name for name in self.left_in("cache") if not name.endswith((".so", ".tsr"))]
        parts = list(self.folder.glob("*.part"))
        self.expect(not left and not parts, f"left behind after the next compilation: {left} {parts}")
        print(f"compile: {killed} of {self.kills} killed, {wholes} had ended", flush=True)

    def kill_runs(self):
        """A first run compiles into the cache. What the cache holds afterwards is whole, or is not used."""
        killed = 0
        for number in range(self.kills):
            if number % 2 == 0:
                shutil.rmtree(self.folder / "cache", ignore_errors=True)
            else:
                shutil.rmtree(self.folder / "cache/tessera/models", ignore_errors=True)
            killed += self.kill_after(self.start("run", self.model, *PROMPT),
                                      self.random.uniform(0, 1.2) * self.seconds)  # fmt: skip
            for path in (self.folder / "cache").rglob("*.tsr"):
                code, output, errors = self.run("run", path, *PROMPT)
                self.expect(code == 0 and output == self.text, f"kill {number}: {path} in the cache: {errors}")
        code, output, errors = self.run("run", self.model, *PROMPT)
        self.expect(code == 0 and output == self.text, f"the run after all kills: {errors}")
        print(f"run: {killed} of {self.kills} killed", flush=True)

    def kill_measurements(self):
        """What is kept of the machine is whole, or nothing is; the next compilation measures, if nothing is."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        start = time.monotonic()
        code, _, errors = self.run("compile", self.model, "-o", "out.tsr", "-q", measures=True)
        self.expect(code == 0 and "measuring this machine once" in errors, f"the first measurement: {errors}")
        seconds = time.monotonic() - start - self.seconds
        killed = wholes = 0
        machines = self.folder / "cache/tessera/machines"
        for number in range(self.kills):
            shutil.rmtree(machines, ignore_errors=True)
            killed += self.kill_after(self.start("compile", self.model, "-o", "out.tsr", "-q", measures=True),
                                      self.random.uniform(0, 1.5) * max(seconds, 1))  # fmt: skip
            kept = list(machines.glob("*.toml"))
            wholes += len(kept)
            code, output, errors = self.run("machine")
            self.expect(code == 0 and ("bytes_per_second" in output) == bool(kept), f"kill {number}: {kept} {errors}")
        code, _, errors = self.run("compile", self.model, "-o", "out.tsr", "-q", measures=True)
        self.expect(code == 0 and ("measuring" in errors) == (not kept), f"the measurement after all kills: {errors}")
        left = [name for name in self.left_in("cache/tessera/machines") if not name.endswith((".toml", ".lock"))]
        self.expect(not left, f"left behind after the next measurement: {left}")
        print(f"measure: {killed} of {self.kills} killed, {wholes} had ended", flush=True)

    def compile_twice(self):
        for is_warm in False, True:
            if not is_warm:
                shutil.rmtree(self.folder / "cache", ignore_errors=True)
            both = [self.start("compile", self.model, "-o", "out.tsr", "-q") for _ in range(2)]
            both.append(self.start("run", self.model, *PROMPT))
            results = [(process.communicate(), process.returncode) for process in both]
            self.expect(all(code == 0 for _, code in results), f"at once: {results}")
            self.expect(self.is_whole(self.folder / "out.tsr"), "at once: out.tsr is not whole")
            self.expect(results[2][0][0] == self.text, "at once: another text")
        print("two compilations and a run at once: done", flush=True)

    def mounted(self, name, size):
        place = self.folder / name
        place.mkdir(exist_ok=True)
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place], capture_output=True)
        return place if mount.returncode == 0 else None

    def fill_disks(self):
        """From nothing to nearly enough, for the output and for the cache."""
        sizes = [16384, 65536, 262144, 1 << 20, len(self.artefact) // 2, len(self.artefact) - 8192]
        for name, words in (("full", ["-o", "full/out.tsr"]), ("full", ["-o", "out2.tsr"])):
            is_output = words[1].startswith("full")
            for size in sizes:
                place = self.mounted(name, size)
                if place is None:
                    print("not checked: full disks, which need the right to mount", flush=True)
                    return
                cache = "cache" if is_output else "full"
                code, _, errors = self.run("compile", self.model, *words, "-q", cache=cache)
                out = self.folder / words[1]
                if is_output or code != 0:
                    self.expect(code == 1 and "space" in errors.lower(), f"{words} with {size} bytes: {code} {errors}")
                if code != 0:
                    self.expect(not out.exists(), f"{words} with {size} bytes: there is an output")
                elif not self.is_whole(out):
                    self.expect(False, f"{words} with {size} bytes: the output is not whole")
                subprocess.run(["umount", place], check=True)
        print("full disks: done", flush=True)

    def take_writing_away(self):
        place = self.mounted("read-only", 1 << 26)
        if place is None:
            print("not checked: a cache that cannot be written, which needs the right to mount", flush=True)
            return
        for state in "empty", "filled":
            if state == "filled":
                subprocess.run(["mount", "-o", "remount,rw", place], check=True)
                self.run("run", self.model, *PROMPT, cache="read-only")
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
            code, output, errors = self.run("run", self.model, *PROMPT, cache="read-only")
            self.expect(code == 0 and output == self.text, f"a cache that cannot be written, {state}: {errors}")
            self.expect(("cannot be written" in errors) == (state == "empty"), f"{state}: {errors}")
        code, _, errors = self.run("compile", self.model, "-o", place / "out.tsr", "-q")
        self.expect(code == 1 and "ead-only" in errors, f"an output that cannot be written: {code} {errors}")
        subprocess.run(["umount", place], check=True)
        print("a cache that cannot be written: done", flush=True)

    def all(self):
        try:
            self.prepare()
            self.compile_twice()
            self.take_writing_away()
            self.fill_disks()
            self.kill_compilations()
            self.kill_runs()
            self.kill_measurements()
        finally:
            for name in "full", "read-only":
                if os.path.ismount(self.folder / name):
                    subprocess.run(["umount", self.folder / name])
            shutil.rmtree(self.folder, ignore_errors=True)
        return self.failures


if __name__ == "__main__":
    source = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser()
    parser.add_argument("tessera", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", type=pathlib.Path, default=source / "models/tessera-tiny")
    failures = Interruptions(parser.parse_args()).all()
    print("failures:", failures)
    sys.exit(failures > 0)
