"""Checks the rules of the source tree that no compiler checks.

Usage: source_rules.py ROOT      (exit code 1 and one line per violation)

1. A module of src/ includes itself and the modules that it declares in src/CMakeLists.txt, directly or through them;
   each of those stands above it in the list (docs/design.md). cli/ stands below all of them.
2. A header starts with #pragma once.
3. A file is at most 400 lines long.
"""

import pathlib
import re
import sys

MAX_LINES = 400
CODE = {".h", ".cpp", ".py", ".sh"}
FOLDERS = ("src", "include", "python", "examples", "tests", "scripts", "bench")

MODULE = re.compile(r"^tessera_module\((\w+)([^)]*)\)", re.MULTILINE)
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


def include_violations(root, modules, closure):
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        module = path.relative_to(root / "src").parts[0]
        allowed = closure.get(module, set(modules) | {module})
        if module not in modules and module != "cli":
            yield f"{path.relative_to(root)}: src/CMakeLists.txt has no module {module}"
            continue
        for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            other = target.split("/")[0]
            if other == "tessera":
                continue
            if other not in modules and other != module:
                yield f'{path.relative_to(root)}: includes "{target}", which is no path from src/'
            elif other not in allowed:
                yield f'{path.relative_to(root)}: includes "{target}", but {module} may use only {", ".join(sorted(allowed))}'


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
    modules = declared_modules((root / "src" / "CMakeLists.txt").read_text(encoding="utf-8"))
    found, closure = reachable(modules)
    found += include_violations(root, modules, closure)
    found += file_violations(root)
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems = violations(sys.argv[1])
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
