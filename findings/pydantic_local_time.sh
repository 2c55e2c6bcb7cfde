#!/usr/bin/env bash
# pydantic 2.12.5, jsonschema 4.26.0. Situation: a model with a datetime writes a value as JSON, which is then checked by the JSON
# Schema of the same model. Guess: what a model writes is valid by its own schema. Seen: a time without a zone is not: it is written
# as it is, and the schema says `date-time`, which asks for a zone. A writer that follows the schema can never write a local time,
# and pydantic reads back, without complaint, what its schema forbids.
source "$(dirname "$0")/setup.sh"
install pydantic==2.12.5 'jsonschema[format]==4.26.0'
expect $'"2024-05-06T07:08:09" is no date-time\nread back: True' <<'PYTHON'
import json
from datetime import datetime
from jsonschema import Draft202012Validator as Draft
from pydantic import BaseModel
class Event(BaseModel):
    at: datetime
event = Event(at=datetime(2024, 5, 6, 7, 8, 9))
written = event.model_dump_json()
for error in Draft(Event.model_json_schema(), format_checker=Draft.FORMAT_CHECKER).iter_errors(json.loads(written)):
    print(json.dumps(error.instance), "is no", error.validator_value)
print("read back:", Event.model_validate_json(written) == event)
PYTHON
