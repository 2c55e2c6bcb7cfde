#!/usr/bin/env bash
# scripts/install-dependencies.sh among fake programs: it asks for what is missing, only for that, and as root.
set -euo pipefail
script=$(cd "$(dirname "$0")/../../scripts" && pwd)/install-dependencies.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"
    chmod +x "$work/$1"
}
# Everything but the fakes that the script needs, and no sudo unless a case makes one.
for program in bash env grep dirname; do
    ln -s "$(command -v "$program")" "$work/$program"
done
fake apt-get "echo \"apt-get \$*\" >>$work/log"
run() { env -i PATH="$work" HOME="$work" bash "$script" 2>"$work/errors"; }
expect() { # NAME EXPECTED FOUND
    if [[ $2 != "$3" ]]; then
        printf '%s: expected\n  %s\nfound\n  %s\n' "$1" "$2" "$3" >&2
        exit 1
    fi
}

fake id 'echo 0'
fake dpkg-query 'echo "install ok installed"'
run
expect "nothing is missing" "no call" "$(cat "$work/log" 2>/dev/null || echo 'no call')"

fake dpkg-query 'case "$4" in mold) exit 1 ;; ccache) echo "deinstall ok config-files" ;; *) echo "install ok installed" ;; esac'
run
expect "two are missing" "apt-get update -qq
apt-get install -y -qq --no-install-recommends ccache mold" "$(cat "$work/log")"

rm "$work/log"
fake id 'echo 1000'
if run; then expect "no root and no sudo" failure success; fi
expect "no root and no sudo" "These packages are missing, and installing them needs root or sudo: ccache mold" "$(cat "$work/errors")"

fake sudo "echo \"sudo \$*\" >>$work/log"
run
expect "with sudo" "sudo apt-get update -qq
sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ccache mold" "$(cat "$work/log")"
