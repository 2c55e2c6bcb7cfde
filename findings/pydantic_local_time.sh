#!/usr/bin/env bash
# pydantic 2.12.5, jsonschema 4.26.0. Situation: a model with a datetime and a timedelta writes a value as JSON, which is then
# checked by the JSON Schema of the same model. Guess: what a model writes is valid by its own schema. Seen: a time without a zone
# and a span below zero are not: the schema says `date-time` and `duration`, which ask for a zone and have no sign. A model that
# follows the schema can therefore never write a local time.
source "$(dirname "$0")/setup.sh"
install pydantic==2.12.5 'jsonschema[format]==4.26.0'
expect $'"2024-05-06T07:08:09" is no date-time\n"-P1D" is no duration' <<'PYTHON'
import json
from datetime import datetime, timedelta
from jsonschema import Draft202012Validator as Draft
from pydantic import BaseModel
class Event(BaseModel):
    at: datetime
    span: timedelta
written = json.loads(Event(at=datetime(2024, 5, 6, 7, 8, 9), span=-timedelta(days=1)).model_dump_json())
for error in Draft(Event.model_json_schema(), format_checker=Draft.FORMAT_CHECKER).iter_errors(written):
    print(json.dumps(error.instance), "is no", error.validator_value)
PYTHON
