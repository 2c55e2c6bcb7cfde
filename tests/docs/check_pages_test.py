"""Each rule of check_pages.py finds what breaks it, and nothing in pages that keep it."""

import pathlib
import tempfile
import unittest

import check_pages


class CheckPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write("README.md", "[all](docs/README.md)")
        self.write("docs/README.md", "[terms](glossary.md) [plan](plan.md#the-first-plan)")
        self.write("docs/glossary.md", "| plan | `plan/plan.h` |")
        self.write("src/plan/plan.h", "")
        self.write("docs/plan.md", "# Plans\n\n## The *first* plan\n\n[terms](glossary.md)")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, *expected):
        self.assertEqual(check_pages.violations(self.root), list(expected))

    def test_allowed(self):
        self.write("docs/plan.md", "# The first plan\n[terms](glossary.md) `src/plan/plan.h` `../shared/x.py` [w](https://w.org/a#b)\n"
                   "```cpp file=src/ops/new.cpp\n`no/file.h`\n```\n`src/ops/new.cpp`")  # fmt: skip
        self.check()

    def test_broken_link(self):
        self.write("README.md", "[gone](docs/gone.md)")
        self.check("README.md: links to docs/gone.md, which does not exist")

    def test_broken_anchor(self):
        self.write("docs/plan.md", "# Plans\n[terms](glossary.md)\n```\n# The first plan\n```\n")
        self.check("docs/README.md: links to plan.md#the-first-plan, which has no such heading")

    def test_page_without_glossary(self):
        self.write("docs/plan.md", "# The first plan\n")
        self.check("docs/plan.md: does not link to docs/glossary.md")

    def test_unlisted_page(self):
        self.write("docs/new.md", "[terms](glossary.md)")
        self.check("docs/README.md: does not list new.md")

    def test_missing_file(self):
        self.write("docs/plan.md", "# The first plan\n[terms](glossary.md) `plan/gone.h`")
        self.check("docs/plan.md: names plan/gone.h, which does not exist")


if __name__ == "__main__":
    unittest.main()
