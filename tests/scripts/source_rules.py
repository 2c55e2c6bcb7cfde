"""Checks the rules of the source tree that no compiler checks.

Usage: source_rules.py ROOT      (exit code 1 and one line per violation)

1. A module of src/ includes itself and the modules that it declares in src/CMakeLists.txt, directly or through them;
   each of those stands above it in the list (docs/design.md). The tool, cli/ without its modules, stands below all.
2. The folders of src/ are the rooms of that list, at most 14. Each has a README.md of at most 15 lines, and depends on
   no room below it.
3. A header starts with #pragma once.
4. A file is at most 400 lines long.
5. Exact search, legality and prices serve the compiler: a module of nest/, cost/ or search/ is included by a module
   other than the tool's. The exception is nests, whose exact walks are the oracle that the others are tested against.
"""

import pathlib
import re
import sys

MAX_LINES = 400
MAX_ROOMS = 14
MAX_README_LINES = 15
CODE = {".h", ".cpp", ".py", ".sh"}
FOLDERS = ("src", "include", "python", "examples", "tests", "scripts", "bench")

FOR_THE_COMPILER = ("nest", "cost", "search")
ORACLES = {"nests"}

MODULE = re.compile(r"^tessera_module\((\w+)([^)]*)\)", re.MULTILINE)
ROOM = re.compile(r"^tessera_room\((\w+)([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def declared_modules(cmake):
    """Module -> the modules of its DEPENDS, in the order of the list."""
    modules = {}
    for name, arguments in MODULE.findall(cmake):
        words = arguments.split()
        depends = []
        if "DEPENDS" in words:
            for word in words[words.index("DEPENDS") + 1:]:
                if word == "LIBRARIES":
                    break
                depends.append(word)
        modules[name] = depends
    return modules


def reachable(modules):
    """Violations of the order, and module -> every module that it may include."""
    violations, closure = [], {}
    for name, depends in modules.items():
        closure[name] = {name}
        for other in depends:
            if other not in closure:
                violations.append(f"src/CMakeLists.txt: {name} depends on {other}, which does not stand above it")
            closure[name] |= closure.get(other, set())
    return violations, closure


def declared_rooms(cmake):
    """Room -> the modules with a folder in it, in the order of the list."""
    return {name: modules.split() for name, modules in ROOM.findall(cmake)}


def module_of(path, rooms):
    """The module that a path below src/ is of: that of its room, unless the room has a folder for it."""
    first, second = (path.split("/") + [""])[:2]
    return second if second in rooms.get(first, []) else first


def room_violations(root, modules, rooms):
    folders = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    for room in sorted(folders - set(rooms)):
        yield f"src/{room}: src/CMakeLists.txt has no room {room}"
    if len(rooms) > MAX_ROOMS:
        yield f"src/CMakeLists.txt: has {len(rooms)} rooms, at most {MAX_ROOMS}"
    for room in sorted(folders & set(rooms)):
        readme = root / "src" / room / "README.md"
        if not readme.is_file():
            yield f"src/{room}: has no README.md"
        elif (lines := len(readme.read_text(encoding="utf-8").splitlines())) > MAX_README_LINES:
            yield f"src/{room}/README.md: has {lines} lines, at most {MAX_README_LINES}"
    place = {module: at for at, (room, others) in enumerate(rooms.items()) for module in [room, *others]}
    for module, depends in modules.items():
        for other in depends:
            if place.get(other, 0) > place.get(module, len(rooms)):
                yield f"src/CMakeLists.txt: {module} depends on {other}, which lies in a room below"


def include_violations(root, modules, closure, rooms):
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        module = module_of(path.relative_to(root / "src").as_posix(), rooms)
        allowed = closure.get(module, set(modules) | {module})
        if module not in modules and module != "cli":
            yield f"{path.relative_to(root)}: src/CMakeLists.txt has no module {module}"
            continue
        for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if target.startswith("tessera/"):
                continue
            other = module_of(target, rooms)
            if other not in modules and other != module:
                yield f'{path.relative_to(root)}: includes "{target}", which is no path from src/'
            elif other not in allowed:
                yield f'{path.relative_to(root)}: includes "{target}", but {module} may use only {", ".join(sorted(allowed))}'


def client_violations(root, rooms):
    tool = {"cli", *rooms.get("cli", [])}
    used = set()
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in {".h", ".cpp"}:
            module = module_of(path.relative_to(root / "src").as_posix(), rooms)
            others = {module_of(target, rooms) for target in INCLUDE.findall(path.read_text(encoding="utf-8"))}
            used |= set() if module in tool else others - {module}
    for room in FOR_THE_COMPILER:
        for module in [room, *rooms.get(room, [])] if room in rooms else []:
            folder = root / "src" / room / ("" if module == room else module)
            if module not in used | ORACLES and any(folder.glob("*.h")):
                yield f"{folder.relative_to(root)}: serves the verbs of the tool alone"


def file_violations(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in CODE or not path.is_file():
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            if len(lines) > MAX_LINES:
                yield f"{path.relative_to(root)}: has {len(lines)} lines, at most {MAX_LINES}"
            if path.suffix == ".h" and (not lines or lines[0] != "#pragma once"):
                yield f"{path.relative_to(root)}: does not start with #pragma once"


def violations(root):
    root = pathlib.Path(root)
    cmake = (root / "src" / "CMakeLists.txt").read_text(encoding="utf-8")
    modules, rooms = declared_modules(cmake), declared_rooms(cmake)
    found, closure = reachable(modules)
    found += room_violations(root, modules, rooms)
    found += include_violations(root, modules, closure, rooms)
    found += client_violations(root, rooms)
    found += file_violations(root)
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems = violations(sys.argv[1])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
