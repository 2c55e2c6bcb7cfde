#!/usr/bin/env bash
# jsonschema 4.26.0 (Python). Situation: a schema says `"format": "date-time"`, and the caller asks for formats to be checked.
# Guess: "yesterday" is invalid. Seen: it is valid. `format_checker=` checks only what the package can check alone; date-time,
# time, uri, duration and others are passed over without a word unless further packages are there, while date and uuid are checked.
# Whoever tests a writer of JSON against it tests less than he thinks: install `jsonschema[format]`.
source "$(dirname "$0")/setup.sh"
install jsonschema==4.26.0
expect $'date False\nuuid False\ndate-time True\ntime True\nuri True\nduration True' <<'PYTHON'
from jsonschema import Draft202012Validator as Draft
for name in ("date", "uuid", "date-time", "time", "uri", "duration"):
    print(name, Draft({"format": name}, format_checker=Draft.FORMAT_CHECKER).is_valid("yester day"))
PYTHON
