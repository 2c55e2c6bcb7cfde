#!/usr/bin/env bash
# Usage: scripts/build.sh [PRESET [TARGET]]   (release, test, debug, sanitize; default: release, everything)
# Configures and builds in build/PRESET.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
target=${2:-all}
cmake --preset "$preset" --log-level=WARNING >&2
cmake --build --preset "$preset" --target "$target" --parallel "$(nproc)" >&2
