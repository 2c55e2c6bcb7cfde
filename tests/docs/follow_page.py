"""Follows a page of docs/ literally.

Usage: follow_page.py PAGE --source DIR --build DIR --link WORD...

The blocks of the page are carried out in its order:

    ```LANGUAGE file=PATH   the block becomes this file, which must not exist yet
    ```diff                 is applied to the source tree
    ```tests file=PATH      tests of this file, which exists, are run: one pattern of GoogleTest a line
    ```sh                   is run in the tree, `tessera` is in PATH
    ```files                names all files that the page wrote or changed since the last such block, one a line

The tree is an empty folder that lies over the source tree: it holds only what the page writes or changes. Then its
.cpp files are compiled with the flags that the build has for their folder and linked in front of the library: a file
that the page changes, or the unit of files that has it, takes the place of the library's own. The support files of the
tests are linked, too. The tests in the new and changed test files are run. A header that is changed may only gain
declarations: nothing else is compiled again.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)
CHANGED = re.compile(r"^\+\+\+ (?:b/)?(\S+)", re.MULTILINE)


def fail(message):
    sys.exit(f"FAILED: {message}")


def run(command, **options):
    print("$", shlex.join(map(str, command)), flush=True)
    result = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    print(result.stdout, flush=True)
    if result.returncode != 0:
        fail(f"exit code {result.returncode} of {shlex.join(map(str, command))}")
    return result.stdout


def compiled_by(command):
    """The file of a command; of a unit, the files that it includes."""
    file = pathlib.Path(command["file"]).resolve()
    if file.parent.name != "Unity":
        return [file]
    return [pathlib.Path(name).resolve() for name in INCLUDED.findall(file.read_text(encoding="utf-8"))]


class Follower:
    def __init__(self, source, build, tree):
        self.source, self.build, self.tree = source, build, tree
        self.tests = []  # patterns of GoogleTest
        self.touched = set()  # files since the last block that names them
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        self.built = {}  # source file -> its object
        for command in commands:
            words = shlex.split(command["command"])
            result = build / words[words.index("-o") + 1]
            if result.exists():
                self.built[pathlib.Path(command["file"]).resolve()] = result
        self.commands = {file: command for command in commands for file in compiled_by(command)}
        self.units = set()  # compiled with what the page changes

    def follow(self, page):
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
        if not blocks:
            fail(f"{page} has no blocks to follow")
        for language, path, text in blocks:
            if language == "tests":
                self.select(path, text)
            elif path:
                self.write(path, text)
            elif language == "diff":
                self.apply(text)
            elif language == "sh":
                self.shell(text)
            elif language == "files":
                self.count(text)

    def write(self, path, text):
        if (self.source / path).exists() or (self.tree / path).exists():
            fail(f"{path} exists already")
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text(text, encoding="utf-8")
        self.touched.add(path)
        self.tests += [f"{suite}.{test}" for suite, test in re.findall(r"\bTEST(?:_F)?\((\w+), (\w+)\)", text)]

    def count(self, text):
        if set(text.split()) != self.touched:
            fail(f"the page says that these files are touched:\n{text}but it touches\n" + "\n".join(sorted(self.touched)))
        self.touched = set()

    def select(self, path, text):
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.source / path, self.tree / path)
        self.tests += text.split()

    def apply(self, text):
        for path in CHANGED.findall(text):
            if not (self.tree / path).exists():
                (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.source / path, self.tree / path)
        run(["patch", "-p1", "--no-backup-if-mismatch", "--fuzz=0"], cwd=self.tree, input=text)
        self.touched.update(CHANGED.findall(text))
        # An added entry of a table is a parameter of the tests that walk the table.
        self.tests += [f"*/{name}" for name in re.findall(r"^\+ +\{\"(\w+)\"", text, re.MULTILINE)]

    def shell(self, text):
        environment = dict(os.environ, PATH=f"{self.build}:{os.environ['PATH']}",
                           XDG_CACHE_HOME=str(self.tree / ".cache"))
        run(["bash", "-euo", "pipefail", "-c", text], cwd=self.tree, env=environment)

    def flags_for(self, path):
        """The command of this file, or of another one of its folder; the folders of the page come first."""
        known = self.commands.get((self.source / path).resolve())
        folder = (self.source / path).parent.resolve()
        known = known or next((c for f, c in sorted(self.commands.items()) if f.parent == folder), None)
        if known is None:
            fail(f"{path}: nothing in its folder is compiled")
        words = shlex.split(known["command"])
        while pathlib.Path(words[0]).name in ("cmake", "-E", "env", "ccache") or words[0].startswith("CCACHE_"):
            words.pop(0)
        words = words[:words.index("-o")]
        mine = [word for folder in ("src", "tests", "include") for word in ("-I", str(self.tree / folder))]
        return words[:1] + mine + words[1:]

    def compile(self, path, root):
        result = self.tree / ("-".join(path.parts) + ".o")
        run(self.flags_for(path) + ["-o", str(result), "-c", str(root / path)], cwd=self.build)
        return result

    def compile_changed(self, path, changed):
        """The object that takes the library's place: of a file, or of the unit that has it; none if that is compiled."""
        known = self.commands.get((self.source / path).resolve())
        unit = pathlib.Path(known["file"]) if known else None
        if path.parts[0] != "src" or unit is None or unit.parent.name != "Unity":
            return [self.compile(path, self.tree)]
        if unit in self.units:
            return []
        self.units.add(unit)
        text = unit.read_text(encoding="utf-8")
        for file in changed:
            text = text.replace(f'"{self.source / file}"', f'"{self.tree / file}"')
        mine = path.parent / f"unit_{len(self.units)}.cpp"
        (self.tree / mine).write_text(text, encoding="utf-8")
        return [self.compile(mine, self.tree)]

    def build_and_test(self, link):
        sources = sorted(p.relative_to(self.tree) for p in self.tree.rglob("*.cpp"))
        if not sources:
            return
        objects = []
        for path in sources:
            objects += self.compile_changed(path, sources)
        for folder in {path.parent for path in sources if path.parts[0] == "tests"}:
            for file in sorted((self.source / folder).rglob("*.cpp")):
                path = file.relative_to(self.source)
                if not path.name.endswith("_test.cpp") and path not in sources:
                    objects.append(self.built.get(file) or self.compile(path, self.source))
        program = self.tree / "page_tests"
        compiler = self.flags_for(sources[0])[0]
        run([compiler, "-o", str(program)] + list(map(str, objects)) + link)
        if not self.tests:
            fail("the page has no test")
        output = run([program, "--gtest_filter=" + ":".join(self.tests)])
        if "[  PASSED  ] 0 tests" in output:
            fail("none of the page's tests was found")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--link", nargs="+", required=True)
    # All words behind --link are the linker's, flags included.
    at = sys.argv.index("--link")
    arguments = parser.parse_args(sys.argv[1:at] + ["--link", "x"])
    with tempfile.TemporaryDirectory() as folder:
        follower = Follower(arguments.source.resolve(), arguments.build.resolve(), pathlib.Path(folder))
        follower.follow(arguments.page)
        follower.build_and_test(sys.argv[at + 1:])
    print("passed")


if __name__ == "__main__":
    main()
