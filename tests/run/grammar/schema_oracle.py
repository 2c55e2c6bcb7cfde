"""Checks texts by JSON Schema: reads lines {"schema": .., "texts": [..]}, and prints the texts that are no JSON or
not valid. Needs the package jsonschema; formats are checked as far as the packages that it uses for them are there."""

import json
import sys

import jsonschema

count = wrong = 0
for line in open(sys.argv[1], encoding="utf-8"):
    case = json.loads(line)
    kind = jsonschema.Draft202012Validator
    validator = kind(json.loads(case["schema"]), format_checker=kind.FORMAT_CHECKER)
    for text in case["texts"]:
        count += 1
        try:
            problem = next((error.message for error in validator.iter_errors(json.loads(text))), None)
        except ValueError as error:
            problem = str(error)
        if problem:
            wrong += 1
            print(f"{case['schema']}\n    {text!r}: {problem}")
print(f"{count} texts, {wrong} wrong")
sys.exit(wrong > 0 or count == 0)
