"""Checks what the pages of the project refer to.

Usage: check_pages.py ROOT      (exit code 1 and one line per violation)

1. A relative link leads to a file or folder, and its anchor to a heading of that page.
2. A page of docs/, and the page on NTT, links to the glossary.
3. docs/README.md links to every page of docs/.
4. A file that a page names in backticks, with its folder, exists: under the root, src/, include/ or include/tessera/.
"""

import pathlib
import re
import sys

FOLDERS = ("docs", "include", "scripts", "models", "bench", "examples")
NTT = "include/tessera/ntt/README.md"
# Rewritten together with the declarations of micro-kernels.
WITHOUT_GLOSSARY = {"docs/glossary.md"}

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`((?:[a-z0-9_.-]+/)+[a-z0-9_.-]+\.(?:h|cpp|py|sh|toml|md|txt))`")
MADE = re.compile(r"^```\w+ file=(\S+)$", re.MULTILINE)


def anchor(heading):
    """As GitHub makes it of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def pages(root):
    found = [root / "README.md"]
    for folder in FOLDERS:
        found += sorted((root / folder).rglob("*.md"))
    return found


def link_violations(root, page, text):
    for target in LINK.findall(text):
        if "://" in target:
            continue
        path, _, wanted = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{page.relative_to(root)}: links to {target}, which does not exist"
        elif wanted and wanted not in map(anchor, HEADING.findall(CODE.sub("", file.read_text(encoding="utf-8")))):
            yield f"{page.relative_to(root)}: links to {target}, which has no such heading"


def name_violations(root, page, text):
    made = set(MADE.findall(text))
    for name in NAMED.findall(text):
        if name.startswith(("../", "build/")) or name in made:
            continue
        if not any((root / folder / name).exists() for folder in ("", "src", "include", "include/tessera")):
            yield f"{page.relative_to(root)}: names {name}, which does not exist"


def violations(root):
    root = pathlib.Path(root).resolve()
    found = []
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        found += link_violations(root, page, text)
        found += name_violations(root, page, CODE.sub("", text) + "\n" + "\n".join(f"```x file={m}" for m in MADE.findall(text)))
        name = page.relative_to(root).as_posix()
        is_bound = (name.startswith("docs/") or name == NTT) and name not in WITHOUT_GLOSSARY
        if is_bound and not any(target.endswith("glossary.md") for target in LINK.findall(text)):
            found.append(f"{name}: does not link to docs/glossary.md")
    listed = {target.partition("#")[0] for target in LINK.findall((root / "docs/README.md").read_text(encoding="utf-8"))}
    for page in sorted((root / "docs").glob("*.md")):
        if page.name not in listed and page.name != "README.md":
            found.append(f"docs/README.md: does not list {page.name}")
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems = violations(sys.argv[1])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
