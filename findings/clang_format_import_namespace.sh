#!/usr/bin/env bash
# clang-format 14.0.6 (Debian 12), and 21.1.2 beside it. Situation: a C++ function returns a type of a namespace that is called import.
# Guess: "import" begins an import of a module only where a module's name follows, so that "import::Table first(..) {" is formatted as any
# function, and a check (--dry-run -Werror) says where it is not. Seen: 14.0.6 keeps such a function as it was written, braces and
# indentation included, and its check passes. 21.1.2 formats it.
source "$(dirname "$0")/setup.sh"
install clang-format==14.0.6
"$folder/python/bin/pip" install --quiet --disable-pip-version-check --target "$folder/newer" clang-format==21.1.2
printf 'import::Table first(int x){if (x) return {};\nreturn {};\n}\n' > "$folder/table.cpp"
old=$("$folder/python/bin/clang-format" --style=LLVM --dry-run -Werror "$folder/table.cpp" 2>&1 && echo "14.0.6: formatted")
new=$(PYTHONPATH="$folder/newer" "$folder/newer/bin/clang-format" --style=LLVM "$folder/table.cpp" | wc -l)
[[ $old == "14.0.6: formatted" && $new == 5 ]] || { echo "changed: $old, $new lines" >&2; exit 1; }
echo "$old, 21.1.2: $new lines of 3"
