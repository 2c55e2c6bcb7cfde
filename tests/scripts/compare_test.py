"""The parts of bench/compare that need none of the programs it builds. Usage: compare_test.py TESSERA"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/compare"))

import chart  # noqa: E402
import gguf  # noqa: E402
import report  # noqa: E402

TESSERA = ""


class Gguf(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def logits(self, model):
        ids = self.folder / "ids.json"
        ids.write_text(json.dumps([1, 5, 77, 300, 9]))
        out = self.folder / "logits.bin"
        environment = os.environ | {"XDG_CACHE_HOME": str(self.folder / "cache")}
        subprocess.run([TESSERA, "logits", model, "--ids", ids, "--out", out], check=True, env=environment, capture_output=True)
        return out.read_bytes()

    def test_has_the_weights_of_the_folder(self):
        folder, file = ROOT / "models/tessera-tiny", self.folder / "tiny.gguf"
        gguf.write_gguf(folder, file)
        self.assertEqual(self.logits(file), self.logits(folder))

    def test_widens_exactly(self):
        values = [1.0, -2.5, 0.0, 0.15625]
        expected = struct.pack("<4f", *values)
        self.assertEqual(gguf.widened(expected, "F32"), expected)
        self.assertEqual(gguf.widened(struct.pack("<4e", *values), "F16"), expected)
        upper_halves = b"".join(expected[4 * i + 2 : 4 * i + 4] for i in range(4))
        self.assertEqual(gguf.widened(upper_halves, "BF16"), expected)

    def test_refuses_another_architecture(self):
        (self.folder / "config.json").write_text('{"model_type": "llama"}')
        with self.assertRaisesRegex(SystemExit, "model_type is 'llama', expected 'qwen3'"):
            gguf.write_gguf(self.folder, self.folder / "out.gguf")


def run(tessera, llama, **limits):
    work = {"weight_bytes": 800, "cache_bytes_read": 150, "cache_bytes_written": 50, "multiply_adds": 4000}
    own = {"bytes_per_second": 1000.0, "multiply_adds_per_second": 8000.0}
    return {"tessera": work | {"seconds": tessera, "limits": [own], "others": 0.04}, "llama": {"seconds": llama, "others": 0.5}} | limits


class Report(unittest.TestCase):
    def row(self, kind, *runs):
        cell = {"model": "m", "threads": 1, "test": "t", "kind": kind, "tokens": 10, "depth": 0, "runs": list(runs)}
        return dict(zip(["model", "threads", "test", "tessera", "quartiles", "llama", "llama quartiles", "ratio",
                         "ratio quartiles", "share", "llama share", "limit", "others"], report.row(cell)))  # fmt: skip

    def test_a_ratio_is_of_times_of_the_same_pair(self):
        row = self.row("decode", run([2.0], [1.0]), run([4.0], [8.0]), run([2.0], [3.0]))
        self.assertEqual(row["ratio"], "1.50")  # the median of 0.5, 2 and 1.5; that of the speeds is 5 / 3.33
        self.assertEqual(row["tessera"], "5.00")
        self.assertEqual(row["llama"], "3.33")

    def test_decode_is_a_share_of_the_bandwidth_and_prefill_of_the_arithmetic(self):
        self.assertEqual(self.row("decode", run([2.0], [4.0]))["share"], "50 %")  # 1000 bytes in 2 s of 1000 in 1 s
        self.assertEqual(self.row("decode", run([2.0], [4.0]))["llama share"], "25 %")
        self.assertEqual(self.row("prefill", run([2.0], [4.0]))["share"], "25 %")

    def test_the_faster_probe_is_the_limit(self):
        other = {"bytes_per_second": {1: 2000.0, 2: 9000.0}, "multiply_adds_per_second": {1: 1.0, 2: 1.0}}
        self.assertEqual(self.row("decode", run([2.0], [4.0], limits=other))["share"], "25 %")
        self.assertEqual(self.row("prefill", run([2.0], [4.0], limits=other))["share"], "25 %")

    def test_scaling_is_that_of_the_limits_of_the_same_pair(self):
        limits = {"bytes_per_second": {1: 2000.0, 4: 6000.0}}
        cells = [
            {"model": "m", "threads": threads, "test": "decode 32", "kind": "decode", "runs": [run(seconds, [1.0], limits=limits)]}
            for threads, seconds in ((1, [6.0]), (4, [2.5]))
        ]  # fmt: skip
        self.assertEqual(
            report.scaling_table(cells),
            "m, decode 32: with 4 threads 2.40 times as fast as with 1, the limits 3.00 times: 80 % (quartiles 80 .. 80)\n",
        )
        self.assertEqual(report.scaling_table(cells[:1]), "")
        cells[1]["runs"] = []  # not run yet
        self.assertEqual(report.scaling_table(cells), "")

    def test_says_how_much_others_disturbed_either_program(self):
        self.assertEqual(self.row("decode", run([2.0], [4.0]))["others"], "50 %")


class Chart(unittest.TestCase):
    def test_that_of_the_readme_says_what_its_page_says(self):
        page = (ROOT / "docs/measurements/zen5.md").read_text()
        self.assertEqual((ROOT / "docs/speed.svg").read_text(), chart.of_page(page),
                         "python3 bench/compare/chart.py docs/measurements/zen5.md -o docs/speed.svg")  # fmt: skip
        rows = [[f"| {name} | 9, 1.00 x | {speed}, {ratio} x, 90 % | | | | 1,000, 2.50 x |"] for name, speed, ratio in
                (("F32", "40.0", "1.60"), ("Q4_0", "120", "1.20"))]  # fmt: skip
        drawn = chart.of_page("\n".join(
            ["# Zen", "## Beside llama.cpp", "", "Qwen. Cells. 3 May 2026 (`0123abc`).", "",
             "| weights | decode, 1 thread | 2 threads | a | b | c | 2 threads |", "|-|-|-|-|-|-|-|", *sum(rows, []), "", "## Next"]
        ))  # fmt: skip
        texts = [text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
        for text in ("40.0 (1.60 x)", "25.0", "120 (1.20 x)", "100", "1,000 (2.50 x)", "400",
                     "Zen, two threads; measured by bench/compare at 0123abc, 3 May 2026"):  # fmt: skip
            self.assertIn(text, texts)

    def test_another_page_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no table of weights"):
            chart.of_page("# Zen\n\n## Beside llama.cpp\n\nNothing.\n\n## Next\n")

    def test_a_run_is_drawn_with_what_was_measured(self):
        cell = {"model": "m <&>", "threads": 2, "test": "decode 32", "kind": "decode", "tokens": 300, "depth": 0}
        head = {"machine": {"cpu": "CPU"}, "date": "2026-11-28T00:00:00", "tessera": "0123abc", "llama.cpp": "llama-cpp-python 1, x"}
        drawn = chart.of_result(head | {"cells": [cell | {"runs": [run([2.0], [3.0]), run([2.0], [3.0])]}, cell | {"runs": []}]})
        texts = [text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
        for text in ("150 (1.50 x)", "100", "m <&>", "decode 32, 2 thread(s): tokens/s", "CPU, 2026-11-28, 0123abc, llama-cpp-python 1"):
            self.assertIn(text, texts)


class RawResults(unittest.TestCase):
    def test_go_to_a_folder_that_git_ignores(self):
        for bench in ("compare", "predict", "regret"):
            with self.subTest(bench):
                done = subprocess.run([sys.executable, ROOT / "bench" / bench, "--help"], check=True, capture_output=True, text=True)
                self.assertIn("(build/bench)", " ".join(done.stdout.split()))
        self.assertIn("/build/", (ROOT / ".gitignore").read_text().splitlines())


if __name__ == "__main__":
    TESSERA = sys.argv.pop(1)
    unittest.main()
