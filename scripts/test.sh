#!/usr/bin/env bash
# Usage: scripts/test.sh [--fast]
# Installs what is missing, builds, and runs all tests; then the unit tests once more under the address and
# undefined-behaviour sanitizers, unless --fast.
set -euo pipefail
cd "$(dirname "$0")/.."

fast=false
case "${1:-}" in
    "") ;;
    --fast) fast=true ;;
    *)
        echo "Usage: scripts/test.sh [--fast]" >&2
        exit 2
        ;;
esac

[[ ${SKIP_INSTALL:-0} == 1 ]] || scripts/install-dependencies.sh
scripts/build.sh release
ctest --preset release --parallel "$(nproc)"
if ! $fast; then
    scripts/build.sh sanitize
    # Paths searches thousands of plans, ten minutes here; other tests take such plans through the same code.
    ctest --preset sanitize --parallel "$(nproc)" --label-regex '^unit$' --exclude-regex '^codegen\.Paths'
fi
