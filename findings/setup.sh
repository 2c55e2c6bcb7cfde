# Sourced by every script of this folder: `install PACKAGE==VERSION..` makes a Python of its own in a temporary folder,
# `expect TEXT` runs the program on standard input there and fails unless it prints that text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

install() {
    python3 -m venv "$folder/python"
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check "$@"
}

expect() {
    local seen
    seen=$(cd "$folder" && TRANSFORMERS_VERBOSITY=error "$folder/python/bin/python" -W ignore - 2>/dev/null)
    if [[ $seen != "$1" ]]; then
        printf 'changed: expected\n%s\nseen\n%s\n' "$1" "$seen" >&2
        exit 1
    fi
    printf '%s\n' "$seen"
}
