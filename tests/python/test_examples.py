"""The examples run as a user would run them."""

import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"


def run(*arguments, text=""):
    return subprocess.run(
        [sys.executable, *map(str, arguments)], input=text, capture_output=True, text=True, check=True, env=os.environ
    )


def test_speed_over_batches(artefact):
    shown = run(EXAMPLES / "batch_speed.py", artefact, "--batches", "1", "2", "4", "--tokens", "12", "--text")
    lines = [line.split() for line in shown.stdout.splitlines() if line and line[0] != "#"]
    assert [int(line[0]) for line in lines] == [1, 2, 4]
    assert all(float(line[1]) > 0 for line in lines)


def test_a_picture_of_it(artefact, tmp_path):
    pytest.importorskip("matplotlib", reason="not checked: the picture of examples/python, which needs matplotlib")
    picture = tmp_path / "speed.png"
    run(EXAMPLES / "batch_speed.py", artefact, "--batches", "1", "2", "--tokens", "4", "--out", picture)
    assert picture.stat().st_size > 1000


def test_a_chat(artefact, tmp_path):
    template = tmp_path / "template.jinja"
    template.write_text("{{ messages[-1].content }}")
    shown = run(EXAMPLES / "chat.py", artefact, "--chat-template", template, "--max-tokens", "8",
                text="61 + 93 =\n12 - 5 =\n")
    assert "154" in shown.stdout and shown.stdout.count("> ") == 3


def test_every_example_has_a_test():
    assert {one.name for one in EXAMPLES.glob("*.py")} == {"batch_speed.py", "chat.py"}
