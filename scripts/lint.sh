#!/usr/bin/env bash
# Usage: scripts/lint.sh [FOLDER...]
# Checks the form of every C++ file with clang-format, src/ and include/ with the checks of .clang-tidy, and that no file of
# src/ uses a name that only a shared unit gives it; fails if there is a finding. Folders are those of src/, with what lies
# below them: `search/planner`; default: all.
#
# clang spends most of its time on headers, so it gets the files of a folder as one unit.
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
folders=("$@")
((${#folders[@]})) || folders=(.)

units=build/lint
rm -rf $units
mkdir -p $units
for folder in "${folders[@]}"; do
    [[ -d src/$folder ]] || {
        echo "lint.sh: src/$folder is no folder" >&2
        exit 2
    }
done
(cd src && find "${folders[@]}" -name '*.cpp' | sort -u) | while read -r file; do
    file=${file#./}
    folder=$(dirname "$file")
    echo "#include \"$PWD/src/$file\"" >>"$units/${folder//\//-}.cpp"
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
