"""Tokens per second of Tessera beside llama.cpp, as bars of an SVG file.

    python3 bench/compare/chart.py docs/measurements/zen5.md -o docs/speed.svg

`bench/compare` draws what it has just measured; as a program this draws what a page of docs/measurements keeps of such a run, so
that the picture says what the page says: its table of weights, for two threads.
"""

import argparse
import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import report

COLOURS = {"Tessera": "#0072b2", "llama.cpp": "#bbbbbb"}
BAR, GAP, LEFT, WIDTH, TOP = 15, 12, 64, 250, 62  # pixels


@dataclass(frozen=True)
class Pair:
    """What the bars of one line are: tokens per second."""

    label: str
    tessera: float
    llama: float


def panel(title: str, pairs: list[Pair], left: float, y: float) -> list[str]:
    longest = max(max(pair.tessera, pair.llama) for pair in pairs)
    parts = [f'<text x="{left + LEFT}" y="{y - 10}" font-weight="bold">{escape(title)}</text>']
    for pair in pairs:
        parts.append(f'<text x="{left + LEFT - 6}" y="{y + BAR + 4}" text-anchor="end">{escape(pair.label)}</text>')
        for name, speed in (("Tessera", pair.tessera), ("llama.cpp", pair.llama)):
            width = speed / longest * (WIDTH - 40)
            times = f" ({pair.tessera / pair.llama:.2f} x)" if name == "Tessera" else ""
            parts.append(f'<rect x="{left + LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{COLOURS[name]}"/>')
            parts.append(f'<text x="{left + LEFT + width + 4:.1f}" y="{y + BAR - 4}">{speed:,.{0 if speed >= 100 else 1}f}{times}</text>')
            y += BAR
        y += GAP
    return parts


def draw(title: str, panels: dict[str, list[Pair]], caption: str) -> str:
    """An SVG file with two panels in a row; each has a scale of its own, from zero."""
    right, down = LEFT + WIDTH + 90, max(map(len, panels.values())) * (2 * BAR + GAP) + 30
    width, height = 2 * right + 10, TOP + -(-len(panels) // 2) * down
    parts = [f'<text x="10" y="22" font-size="15" font-weight="bold">{escape(title)}</text>']
    for place, (name, colour) in enumerate(COLOURS.items()):
        x = width - 200 + 95 * place
        parts.append(f'<rect x="{x}" y="12" width="12" height="12" fill="{colour}"/><text x="{x + 17}" y="22">{name}</text>')
    for place, (name, pairs) in enumerate(panels.items()):
        parts += panel(name, pairs, place % 2 * right, TOP + place // 2 * down)
    parts.append(f'<text x="10" y="{height - 10}" fill="#555555">{escape(caption)}</text>')
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="#ffffff"/>\n{body}\n</svg>\n')  # fmt: skip


def of_result(result: dict) -> str:
    """Of a run of bench/compare that has measured something."""
    panels: dict[str, list[Pair]] = {}
    for cell in result["cells"]:
        if cell["runs"]:
            tessera, llama = (statistics.median(report.speeds(cell, program)) for program in report.PROGRAMS)
            panels.setdefault(f"{cell['test']}, {cell['threads']} thread(s): tokens/s", []).append(Pair(cell["model"], tessera, llama))
    llama = result["llama.cpp"].partition(",")[0]
    return draw("Tessera beside llama.cpp", panels, f"{result['machine']['cpu']}, {result['date'][:10]}, {result['tessera']}, {llama}")


CELL = re.compile(r"([\d,.]+), ([\d.]+) x")


def of_page(text: str) -> str:
    """@throws ValueError where the page has another form"""
    section = re.search(r"^## Beside llama.cpp\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    title = re.match(r"# (.*)\n", text)
    head = section and re.search(r"^\| weights \|(.*)\|$", section[1], re.MULTILINE)
    if not section or not title or not head:
        raise ValueError("the page has no table of weights under a heading `Beside llama.cpp`")
    columns = [column.strip() for column in head[1].split("|")]
    wanted = {"Decode": columns.index("2 threads"), "Prompt of 512": len(columns) - 1}
    rows = re.findall(r"^\| (\w+) \|(.*)\|$", section[1][section[1].index(head[0]) :].partition("\n\n")[0], re.MULTILINE)
    panels = {f"{name}: tokens/s": [] for name in wanted}
    for kind, cells in rows:
        if kind == "weights":
            continue
        for name, column in wanted.items():
            found = CELL.match(cells.split("|")[column].strip())
            if found:
                speed = float(found[1].replace(",", ""))
                panels[f"{name}: tokens/s"].append(Pair(kind, speed, speed / float(found[2])))
    said = " ".join(section[1].partition("\n|")[0].split())
    model, _, rest = said.partition(". ")
    commits = ", ".join(dict.fromkeys(re.findall(r"`([0-9a-f]{7,})`", rest)))
    date = re.search(r"\d+ \w+ \d{4}", rest)
    caption = f"{title[1]}, two threads; measured by bench/compare at {commits}{f', {date[0]}' if date else ''}"
    return draw(f"{model}, beside llama.cpp", panels, caption)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path, help="of docs/measurements")
    parser.add_argument("-o", "--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.write_text(of_page(options.page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
