"""Each rule of source_rules.py finds what breaks it, and nothing in a tree that keeps it."""

import pathlib
import tempfile
import unittest

import source_rules

CMAKE = """
tessera_module(support LIBRARIES fmt::fmt)
tessera_module(ir      DEPENDS support)
tessera_module(ops     DEPENDS ir LIBRARIES support_library)
tessera_module(other   DEPENDS support)
"""


class SourceRules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/CMakeLists.txt", CMAKE)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, *expected):
        self.assertEqual(source_rules.violations(self.root), list(expected))

    def test_allowed(self):
        self.write("src/ops/a.h", '#pragma once\n#include "ops/b.h"\n#include "ir/c.h"\n')
        self.write("src/ops/a.cpp", '#include "support/error.h"\n#include <vector>\n#include "tessera/ntt/ntt.h"\n')
        self.write("src/cli/main.cpp", '#include "cli/verb.h"\n#include "ops/a.h"\n')
        self.check()

    def test_backwards(self):
        self.write("src/ir/a.cpp", '#include "ops/a.h"\n')
        self.check('src/ir/a.cpp: includes "ops/a.h", but ir may use only ir, support')

    def test_undeclared_sibling(self):
        self.write("src/other/a.cpp", '  #  include "ir/a.h"\n')
        self.check('src/other/a.cpp: includes "ir/a.h", but other may use only other, support')

    def test_tool_is_below_everything(self):
        self.write("src/ops/a.cpp", '#include "cli/verb.h"\n')
        self.check('src/ops/a.cpp: includes "cli/verb.h", which is no path from src/')

    def test_relative_path(self):
        self.write("src/ir/a.cpp", '#include "a.h"\n')
        self.check('src/ir/a.cpp: includes "a.h", which is no path from src/')

    def test_unknown_module(self):
        self.write("src/helpers/a.cpp", "")
        self.check("src/helpers/a.cpp: src/CMakeLists.txt has no module helpers")

    def test_list_in_the_wrong_order(self):
        self.write("src/CMakeLists.txt", "tessera_module(ir DEPENDS ops)\ntessera_module(ops)\n")
        self.check("src/CMakeLists.txt: ir depends on ops, which does not stand above it")

    def test_length(self):
        self.write("tests/ir/long.cpp", "\n" * 401)
        self.write("tests/ir/full.cpp", "\n" * 400)
        self.check("tests/ir/long.cpp: has 401 lines, at most 400")

    def test_include_guard(self):
        self.write("include/tessera/a.h", "#ifndef A\n")
        self.check("include/tessera/a.h: does not start with #pragma once")


if __name__ == "__main__":
    unittest.main()
