#!/usr/bin/env bash
# Usage: scripts/package.sh
# Builds the Debian packages tessera and libtessera-dev into build/package/. One commit gives the same bytes wherever
# and whenever it is built: the date of the packages is that of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."

[[ ${SKIP_INSTALL:-0} == 1 ]] || scripts/install-dependencies.sh
scripts/build.sh package
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
(cd build/package && cpack -G DEB >&2)
ls build/package/*.deb
