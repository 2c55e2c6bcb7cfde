#!/usr/bin/env bash
# Usage: scripts/build.sh [PRESET [TARGET...]]   (release, test, debug, sanitize; default: release, everything)
# Configures and builds in build/PRESET.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
targets=("${@:2}")
cmake --preset "$preset" --log-level=WARNING >&2
cmake --build --preset "$preset" --target "${targets[@]:-all}" --parallel "$(nproc)" >&2
