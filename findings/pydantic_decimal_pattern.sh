#!/usr/bin/env bash
# pydantic 2.12.5. Situation: a model with a field of type Decimal gives its JSON Schema. Guess: a number, or a text with a
# pattern that pydantic itself could check. Seen: the pattern looks ahead, which the engine of pydantic's own `pattern=` refuses,
# and so does every engine of finite automata. The schema of the most ordinary price field needs a backtracking engine.
source "$(dirname "$0")/setup.sh"
install pydantic==2.12.5
expect $'looks ahead: True\npydantic compiles it: False' <<'PYTHON'
from decimal import Decimal
from pydantic import BaseModel, Field, create_model
class Price(BaseModel):
    amount: Decimal
text = next(one for one in Price.model_json_schema()["properties"]["amount"]["anyOf"] if one["type"] == "string")
print("looks ahead:", "(?!" in text["pattern"])
try:
    create_model("Copy", amount=(str, Field(pattern=text["pattern"])))
    print("pydantic compiles it: True")
except Exception:
    print("pydantic compiles it: False")
PYTHON
