#!/usr/bin/env bash
# Usage: scripts/lint.sh [MODULE...]
# Checks the form of every C++ file with clang-format, src/ and include/ with the checks of .clang-tidy, and that no file of
# src/ uses a name that only a shared unit gives it; fails if there is a finding. Modules are folders of src/; default: all.
#
# clang spends most of its time on headers, so it gets the files of a module as one unit.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in clang-format clang-tidy; do
    command -v $tool >/dev/null || {
        echo "$tool is missing; install the Debian package $tool" >&2
        exit 1
    }
done
python=/usr/bin/python3 # which has the Debian package
$python -c 'import clang' 2>/dev/null || {
    echo "clang for Python is missing; install the Debian package python3-clang" >&2
    exit 1
}
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
    find "$PWD/src/$module" -name '*.cpp' | sort | sed 's/.*/#include "&"/' >$units/$module.cpp
done

flags=(-std=c++20 -Isrc -Iinclude '-DTESSERA_VERSION=""' '-DTESSERA_SOURCE_DIR=""' '-DTESSERA_PROGRAM=""')
lint() {
    local unit=$1 python=$2 status=0
    shift 2
    $python scripts/check_units.py "$unit" -- "$@" || status=1
    # The unit includes source files, which is its purpose.
    clang-tidy --quiet --checks=-bugprone-suspicious-include "$unit" -- "$@" 2>"$unit.errors" || {
        status=1
        grep -v 'warnings generated\|warnings treated as errors' "$unit.errors" >&2
    }
    return $status
}
export -f lint

scripts/format.sh --check
find $units -name '*.cpp' -size +0 -print0 | xargs -0 ls -S |
    xargs -P "$(nproc)" -I{} bash -c 'lint "$@"' _ {} $python "${flags[@]}"
