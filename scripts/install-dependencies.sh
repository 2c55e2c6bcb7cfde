#!/usr/bin/env bash
# Usage: scripts/install-dependencies.sh [PACKAGE...]
# Installs the packages of scripts/packages.txt, and those named, that are missing. Debian 12 and 13; with sudo where it does not
# run as root.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(grep -v '^#' scripts/packages.txt)
packages+=("$@")

if ! command -v apt-get >/dev/null; then
    echo "This is no Debian. Install what these packages hold, then run the script again with SKIP_INSTALL=1:" >&2
    printf '  %s\n' "${packages[@]}" >&2
    exit 1
fi

# Each package may be `a|b`.
is_installed() {
    local package
    for package in ${1//|/ }; do
        [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true) == "install ok installed" ]] && return
    done
    return 1
}
missing=()
for package in "${packages[@]}"; do
    is_installed "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
    exit 0
fi

as_root=()
if (($(id -u) != 0)); then
    if ! command -v sudo >/dev/null; then
        echo "These packages are missing, and installing them needs root or sudo: ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "Installing ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq >&2
chosen=()
for package in "${missing[@]}"; do
    for one in ${package//|/ }; do
        [[ -n $(apt-cache show "$one" 2>/dev/null) ]] && break
    done
    chosen+=("$one") # the last one where there is none, so that apt names it
done
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${chosen[@]}" >&2
