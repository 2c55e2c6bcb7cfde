#!/usr/bin/env python3
"""What `tessera run` is made of never calls the reference interpreter: text comes from compiled code alone.

    no_interpreter.py libtessera_runtime.a libtessera_llm.a ...

Fails if an object of these libraries refers to `interpret` or `interpret_graph`.
"""
import re
import subprocess
import sys

INTERPRETER = re.compile(r"tessera::interpret(_graph)?\(")


def main():
    found = []
    for library in sys.argv[1:]:
        symbols = subprocess.run(["nm", "--demangle", library], check=True, capture_output=True, text=True).stdout
        assert "tessera::" in symbols, f"{library} has no symbols of Tessera"
        found += [f"{library}: {line.strip()}" for line in symbols.splitlines() if INTERPRETER.search(line)]
    print("\n".join(found) or "no reference to the interpreter")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
