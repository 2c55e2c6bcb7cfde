#!/usr/bin/env bash
# Usage: scripts/format.sh [--check]
# Formats every C++ file in place with clang-format (Debian package clang-format); --check only names the files that
# would change, and fails if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
case "${1:-}" in
    "") ;;
    --check) mode=(--dry-run -Werror) ;;
    *)
        echo "Usage: scripts/format.sh [--check]" >&2
        exit 2
        ;;
esac
if ! command -v clang-format >/dev/null; then
    echo "clang-format is missing; install the Debian package clang-format" >&2
    exit 1
fi
git ls-files -z --cached --others --exclude-standard '*.h' '*.cpp' | xargs -0 -n 16 clang-format "${mode[@]}"
