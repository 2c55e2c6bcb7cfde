#!/usr/bin/env bash
# tests/compiler/c++ compiles again whenever the result could be another one, and only then.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=$(cd "$(dirname "$0")/../compiler" && pwd)
cd "$work"
mkdir -p include/tessera/ntt first second bin

# The compiler behind it, which counts.
cat >bin/c++ <<END
#!/bin/bash
[[ \$1 == --version ]] || echo run >>"$work/runs"
exec $(command -v g++) "\$@"
END
chmod +x bin/c++
touch runs
export PATH=$compiler:$work/bin:/usr/local/bin:/usr/bin:/bin TESSERA_TEST_CODE=$work/code
model() { c++ -shared -fPIC -I "$work/include" "${@:2}" -o "$1.so" "${1%/*}/tessera.cpp"; }
expect_runs() {
    [[ $(wc -l <runs) == "$1" ]] || { echo "FAILED: $2: $(wc -l <runs) compilations, expected $1" >&2; exit 1; }
}

echo 'inline int one() { return 1; }' >include/tessera/ntt/ntt.h
for folder in first second; do printf '#include <tessera/ntt/ntt.h>\nint two() { return 2 * one(); }\n' >$folder/tessera.cpp; done
model first/a
expect_runs 1 "the first time"
model second/a
expect_runs 1 "the same in another folder"
cmp first/a.so second/a.so
model second/b -O1
expect_runs 2 "another flag"
model first/c -Og & model second/c -Og
wait
expect_runs 3 "two at once"
cmp first/c.so second/c.so
echo 'inline int one() { return 3; }' >include/tessera/ntt/ntt.h
model second/d
expect_runs 4 "another header"
if cmp -s first/a.so second/d.so; then echo "FAILED: another header, the same code" >&2; exit 1; fi
echo 'struct TesseraStep;' >include/tessera/step.h
model second/d
expect_runs 5 "another interface"
(PATH=$compiler:$PATH && model second/d -O2)
expect_runs 6 "twice in PATH"
echo 'int broken(' >first/tessera.cpp
for runs in 7 8; do
    if model first/e 2>errors; then echo "FAILED: compiled what is broken" >&2; exit 1; fi
    grep -q 'error: ' errors
    expect_runs $runs "what does not compile"
done
echo 'int main() {}' >main.cpp
c++ -o main main.cpp
c++ -o main main.cpp
expect_runs 10 "what is no model"
TESSERA_TEST_CODE=/proc/no model second/d
expect_runs 11 "no folder to keep it in"
echo passed
