#!/usr/bin/env bash
# Usage: scripts/lint.sh [MODULE...]
# Checks the form of every C++ file with clang-format, and src/ and include/ with the checks of .clang-tidy; fails if
# there is a finding. Modules are folders of src/; default: all of them.
#
# clang-tidy spends most of its time on headers, so it gets the files of a module as one unit.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in clang-format clang-tidy; do
    command -v $tool >/dev/null || {
        echo "$tool is missing; install the Debian package $tool" >&2
        exit 1
    }
done
modules=("$@")
((${#modules[@]})) || mapfile -t modules < <(find src -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)

units=build/lint
rm -rf $units
mkdir -p $units
for module in "${modules[@]}"; do
    [[ -d src/$module ]] || {
        echo "lint.sh: src/$module is no folder" >&2
        exit 2
    }
    find "$PWD/src/$module" -name '*.cpp' | sort | sed 's/.*/#include "&"/' >"$units/$module.cpp"
    [[ -s $units/$module.cpp ]] || rm "$units/$module.cpp"
done

lint() {
    local unit=$1 log=${1%.cpp}.log
    # The unit includes source files, which is its purpose.
    clang-tidy --quiet --checks=-bugprone-suspicious-include "$unit" -- -std=c++20 -Isrc -Iinclude \
        '-DTESSERA_VERSION=""' '-DTESSERA_SOURCE_DIR=""' >"$log" 2>"$log.errors" && return
    cat "$log"
    grep -v 'warnings generated\|warnings treated as errors' "$log.errors" >&2 || true
    return 1
}
export -f lint

scripts/format.sh --check
ls -S $units/*.cpp | xargs -P "$(nproc)" -I{} bash -c 'lint "$@"' _ {}
