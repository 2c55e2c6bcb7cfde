"""Each rule of source_rules.py finds what breaks it, and nothing in a tree that keeps it."""

import pathlib
import tempfile
import unittest

import source_rules

CMAKE = """
tessera_room(support)
tessera_room(ir ops)
tessera_room(other)
tessera_room(cli serve)
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
        for room in ("support", "ir", "other", "cli"):
            self.write(f"src/{room}/README.md", "# Room\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, *expected):
        self.assertEqual(source_rules.violations(self.root), list(expected))

    def test_allowed(self):
        self.write("src/ir/ops/a.h", '#pragma once\n#include "ir/ops/b.h"\n#include "ir/c.h"\n')
        self.write("src/ir/ops/a.cpp", '#include "support/error.h"\n#include <vector>\n#include "tessera/ntt/ntt.h"\n')
        self.write("src/cli/main.cpp", '#include "cli/verb.h"\n#include "ir/ops/a.h"\n')
        self.check()

    def test_backwards(self):
        self.write("src/ir/a.cpp", '#include "ir/ops/a.h"\n')
        self.check('src/ir/a.cpp: includes "ir/ops/a.h", but ir may use only ir, support')

    def test_undeclared_sibling(self):
        self.write("src/other/a.cpp", '  #  include "ir/a.h"\n')
        self.check('src/other/a.cpp: includes "ir/a.h", but other may use only other, support')

    def test_tool_is_below_everything(self):
        self.write("src/ir/ops/a.cpp", '#include "cli/verb.h"\n')
        self.check('src/ir/ops/a.cpp: includes "cli/verb.h", which is no path from src/')

    def test_relative_path(self):
        self.write("src/ir/a.cpp", '#include "a.h"\n')
        self.check('src/ir/a.cpp: includes "a.h", which is no path from src/')

    def test_searches_serve_the_compiler(self):
        self.write("src/CMakeLists.txt", CMAKE + "tessera_room(search tiles)\ntessera_module(tiles DEPENDS support)\n")
        self.write("src/search/README.md", "# Room\n")
        self.write("src/search/tiles/solve.h", "#pragma once\n")
        self.write("src/cli/tiles.cpp", '#include "search/tiles/solve.h"\n')
        self.check("src/search/tiles: serves the verbs of the tool alone")

    def test_unknown_module(self):
        self.write("src/helpers/a.cpp", "")
        self.check("src/helpers: src/CMakeLists.txt has no room helpers",
                   "src/helpers/a.cpp: src/CMakeLists.txt has no module helpers")  # fmt: skip

    def test_readme_of_a_room(self):
        self.write("src/ir/README.md", "\n" * 16)
        (self.root / "src/other/README.md").unlink()
        self.check("src/ir/README.md: has 16 lines, at most 15", "src/other: has no README.md")

    def test_too_many_rooms(self):
        self.write("src/CMakeLists.txt", CMAKE + "".join(f"tessera_room(room{i})\n" for i in range(11)))
        self.check("src/CMakeLists.txt: has 15 rooms, at most 14")

    def test_room_that_depends_on_one_below(self):
        self.write("src/CMakeLists.txt", CMAKE + "tessera_room(last)\ntessera_module(last)\ntessera_module(serve DEPENDS last)\n")
        self.check("src/CMakeLists.txt: serve depends on last, which lies in a room below")

    def test_list_in_the_wrong_order(self):
        self.write("src/CMakeLists.txt", "tessera_room(support)\ntessera_room(ir ops)\ntessera_room(other)\ntessera_room(cli)\n"
                   "tessera_module(ir DEPENDS ops)\ntessera_module(ops)\n")  # fmt: skip
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
