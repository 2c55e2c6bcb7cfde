#!/usr/bin/env bash
# Usage: installed_tree.sh CMAKE BUILD_DIRECTORY C++_COMPILER VERSION
set -euo pipefail
cmake=$1 build=$2 compiler=$3 version=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
tool=$tree/bin/tessera
model=$tree/share/tessera/models/tessera-tiny

fail() {
    echo "FAILED: $*" >&2
    exit 1
}
expect() { # EXPECTED ACTUAL WHAT
    [[ $2 == "$1" ]] || fail "$3: expected '$1', got '$2'"
}
# With nothing of this shell's environment but a home; `path` is PATH.
clean() {
    env -i HOME="$work/home" PATH="$path" "$@"
}

"$cmake" --install "$build" --prefix "$tree" >"$work/install.log"
mkdir "$work/home"
before=$(find "$tree" | sort)

path=/usr/local/bin:/usr/bin:/bin
expect "tessera $version" "$(clean "$tool" --version)" version
clean "$tool" compile "$model" -o "$work/tiny.tsr" --quiet

path=/nonexistent
expect " 154" "$(clean "$tool" run "$work/tiny.tsr" -p "61 + 93 =" 2>/dev/null)" "an artefact without a compiler"
if clean "$tool" run -p "61 + 93 =" >/dev/null 2>"$work/errors"; then
    [[ -e $model.tsr ]] || fail "a checkpoint was compiled without a compiler"
else
    grep -q "install the Debian package g++" "$work/errors" || fail "no advice: $(cat "$work/errors")"
fi
# If packages carry the shipped model as an artefact, it answers without a compiler.
if [[ ! -e $model.tsr ]]; then
    cp "$work/tiny.tsr" "$model.tsr"
    expect " 154" "$(clean "$tool" run -p "61 + 93 =" 2>/dev/null)" "the shipped artefact"
    rm "$model.tsr"
fi
expect "$before" "$(find "$tree" | sort)" "the installation must not be written to"

path=/usr/local/bin:/usr/bin:/bin
"$cmake" -S "$tree/share/doc/libtessera-dev/examples/answer" -B "$work/answer" -D CMAKE_PREFIX_PATH="$tree" \
    -D CMAKE_CXX_COMPILER="$compiler" -D CMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" >"$work/configure.log" ||
    fail "the example does not configure: $(cat "$work/configure.log")"
"$cmake" --build "$work/answer" >"$work/build.log" 2>&1 || fail "the example does not build: $(cat "$work/build.log")"
path=/nonexistent
expect " 154" "$(clean "$work/answer/answer" "$work/tiny.tsr" "61 + 93 =" 2>/dev/null)" "the example"
if clean "$work/answer/answer" "$work/install.log" "61" 2>"$work/errors"; then fail "a log is no artefact"; fi
grep -q "install.log: is not a Tessera artefact" "$work/errors" || fail "another complaint: $(cat "$work/errors")"
echo "passed"
