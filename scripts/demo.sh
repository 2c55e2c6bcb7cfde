#!/usr/bin/env bash
# Installs what is missing, builds Tessera, compiles the checkpoint that ships with it, and writes text with the result.
# The prompts are of models/tessera-tiny/heldout.jsonl: none is in the text that the checkpoint was trained on.
set -euo pipefail
cd "$(dirname "$0")/.."

[[ ${SKIP_INSTALL:-0} == 1 ]] || scripts/install-dependencies.sh
scripts/build.sh release tessera

tessera=build/release/tessera
model=models/tessera-tiny
artefact=build/tessera-tiny.tsr

show() {
    printf '\n$'
    for word in "$@"; do
        if [[ $word == *" "* ]]; then printf " '%s'" "$word"; else printf ' %s' "$word"; fi
    done
    printf '\n'
    "$@"
}

show "$tessera" compile "$model" -o "$artefact"
for prompt in "61 + 93 =" "80 - 11 =" "sort 4 3 8 3 4:" "count down from eighty-nine to eighty-three:"; do
    show "$tessera" run "$artefact" -p "$prompt"
done
