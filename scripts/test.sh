#!/usr/bin/env bash
# Usage: scripts/test.sh [--fast | --thorough]
# Installs what is missing, builds, and runs the tests: those labelled sanitized under the address and
# undefined-behaviour sanitizers, all others optimised, in build/test; then scripts/lint.sh. With --fast all tests are
# optimised, and there is no lint. With --thorough also those of tests/thorough.txt are run, and those labelled thorough
# under the sanitizers, too.
set -euo pipefail
cd "$(dirname "$0")/.."

fast=false
thorough=false
case "${1:-}" in
    "") ;;
    --fast) fast=true ;;
    --thorough) thorough=true ;;
    *)
        echo "Usage: scripts/test.sh [--fast | --thorough]" >&2
        exit 2
        ;;
esac

left_out='_NOT_BUILT$'
$thorough || left_out+="|$(grep -v '^#\|^$' tests/thorough.txt | paste -sd '|')"

[[ ${SKIP_INSTALL:-0} == 1 ]] || scripts/install-dependencies.sh
find ~/.cache/tessera-test-code -type f -mtime +7 -delete 2>/dev/null || true # of tests/compiler/c++
if $fast; then
    scripts/build.sh test
    ctest --preset test --parallel "$(nproc)" --exclude-regex "$left_out"
    exit
fi
export CCACHE_DEPEND=1 # what is compiled for the first time need not be preprocessed twice
scripts/build.sh test optimised_tests bench_programs
ctest --preset test --parallel "$(nproc)" --label-exclude '^sanitized$' --exclude-regex "$left_out"
sanitized=(sanitized)
$thorough && sanitized+=(thorough)
scripts/build.sh sanitize "${sanitized[@]/%/_tests}"
ctest --preset sanitize --parallel "$(nproc)" --label-regex "^($(IFS='|' && echo "${sanitized[*]}"))\$" --exclude-regex '_NOT_BUILT$'
cat build/{test,sanitize}/Testing/Temporary/LastTest.log | grep -o 'not checked: .*' | sort -u || true
scripts/lint.sh
