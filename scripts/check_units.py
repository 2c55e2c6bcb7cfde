#!/usr/bin/env python3
"""Finds names that a source file takes from another one only because both are compiled in one unit.

usage: scripts/check_units.py UNIT.cpp -- FLAGS...     UNIT.cpp includes the source files, and nothing else

With TESSERA_UNITE the files of a module see each other's anonymous namespaces: a call may then mean a better overload in
another file, without a word from the compiler. Every such use is printed, and the exit code is 1 if there is one.
"""
import sys

from clang import cindex


# Of a name in an anonymous namespace, and of a static one.
PRIVATE = (cindex.LinkageKind.UNIQUE_EXTERNAL, cindex.LinkageKind.INTERNAL)


def source_file(location):
    """The .cpp file of a location, or None for a header."""
    name = location.file.name if location.file else ""
    return name if name.endswith(".cpp") else None


def uses(cursor, user):
    """(use, declaration) of names in a file that another source file declares."""
    for child in cursor.get_children():
        declared = child.referenced
        if declared is not None and declared != child:
            owner = source_file(declared.location)
            if owner and owner != user and declared.linkage in PRIVATE:
                yield child, declared
        yield from uses(child, user)


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        print(__doc__, file=sys.stderr)
        return 2
    unit = sys.argv[1]
    tree = cindex.Index.create().parse(unit, args=sys.argv[3:])
    found = set()
    stack = list(tree.cursor.get_children())
    while stack:
        cursor = stack.pop()
        user = source_file(cursor.location)
        if not user or user == unit:
            continue
        for use, declared in uses(cursor, user):
            found.add(f"{use.location.file}:{use.location.line}: {declared.spelling} is of {declared.location.file}")
    print("\n".join(sorted(found)), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
