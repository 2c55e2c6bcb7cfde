#!/usr/bin/env bash
# Usage: scripts/test.sh [--fast]
# Installs what is missing, builds, and runs every test once: those labelled sanitized under the address and
# undefined-behaviour sanitizers, all others optimised, in build/test; then scripts/lint.sh. With --fast all tests are
# optimised, and there is no lint.
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
if $fast; then
    scripts/build.sh test
    ctest --preset test --parallel "$(nproc)"
    exit
fi
export CCACHE_DEPEND=1 # what is compiled for the first time need not be preprocessed twice
scripts/build.sh test optimised_tests
scripts/build.sh test bench_programs
ctest --preset test --parallel "$(nproc)" --label-exclude '^sanitized$' --exclude-regex '_NOT_BUILT$'
scripts/build.sh sanitize sanitized_tests
ctest --preset sanitize --parallel "$(nproc)" --label-regex '^sanitized$'
cat build/{test,sanitize}/Testing/Temporary/LastTest.log | grep -o 'not checked: .*' | sort -u || true
scripts/lint.sh
