#!/usr/bin/env bash
# transformers 4.57.1. Situation: a config.json leaves out `rope_theta` and `rms_norm_eps`. Guess: Mixtral is Mistral with experts,
# and its defaults are the same. Seen: both differ, theta by a factor of 100; a loader with one table for the family computes
# other angles without an error.
source "$(dirname "$0")/setup.sh"
install transformers==4.57.1
expect $'MistralConfig 10000.0 1e-06\nMixtralConfig 1000000.0 1e-05' <<'PYTHON'
import transformers
for kind in (transformers.MistralConfig, transformers.MixtralConfig):
    config = kind()
    print(kind.__name__, config.rope_theta, config.rms_norm_eps)
PYTHON
