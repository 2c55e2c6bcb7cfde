"""Forty questions over five tools: python3 bench/serve/tools.py MODEL [--chat-template FILE] [--verbose]

Asks a server of its own through the `openai` client, each question whole and as a stream, sends a result back, and asks
again. What must hold:

  - every call names one of the functions, and its arguments are JSON of that function's schema (`jsonschema`)
  - a question whose tool_choice asks for a call gets one, and a function that is named is called once
  - a stream and a whole answer of one seed have the same text and calls
  - ids of calls are all different

Prints figures, and exits with 1 if something does not hold. Needs the Python packages openai and jsonschema.
"""

import argparse
import collections
import json
import sys

import jsonschema
import openai

from load import ROOT, Server


def function(name, description, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function",
            "function": {"name": name, "description": description, "parameters": schema, "strict": True}}


TEXT = {"type": "string", "maxLength": 60}
TOOLS = [
    function("get_weather", "The weather in a city.", city=TEXT, unit={"enum": ["celsius", "fahrenheit"]}),
    function("add", "Adds numbers.", numbers={"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 5}),
    function("set_alarm", "Sets an alarm.", time={"type": "string", "format": "time"}, label=TEXT,
             repeat={"type": "boolean"}),
    function("send_mail", "Sends a mail.", to={"type": "string", "format": "email", "maxLength": 40}, subject=TEXT,
             priority={"type": "integer", "minimum": 1, "maximum": 5}),
    function("find_train", "Finds trains between two stations.",
             journey={"type": "object", "properties": {"origin": TEXT, "destination": TEXT}, "required": ["origin", "destination"],
                      "additionalProperties": False},
             date={"type": "string", "format": "date"}),
]
QUESTIONS = [
    ("get_weather", "What is the weather in {}?", ["Paris", "Oslo", "Lima", "Rome", "Kyoto", "Bonn", "Quito", "Delhi"]),
    ("add", "What is {}?", ["1 + 2", "17 + 25 + 3", "0.5 + 0.25", "100 + 250", "9 + 9 + 9", "3 + 4", "-5 + 8", "12 + 30"]),
    ("set_alarm", "Wake me at {}.", ["7:00", "half past six", "noon", "22:15", "5 am", "8:45", "midnight", "9 pm"]),
    ("send_mail", "Write a mail to {}@example.org.", ["ann", "bob", "eve", "kim", "lee", "max", "ida", "tom"]),
    ("find_train", "Is there a train from {}?",
     ["Bern to Genoa", "Lille to Metz", "Graz to Linz", "York to Leeds", "Porto to Faro", "Brno to Olomouc", "Turin to Milan",
      "Malmo to Lund"]),
]


def choice_of(i, name):
    return ["required", "auto", {"type": "function", "function": {"name": name}}, "required"][i % 4]


class Failures(list):
    def check(self, holds, what):
        if not holds:
            self.append(what)
            print("FAILED:", what, file=sys.stderr)


def joined(stream):
    """Text, calls by index, and reason of a stream."""
    text, calls, reason = "", {}, None
    for chunk in stream:
        choice = chunk.choices[0]
        text += choice.delta.content or ""
        for delta in choice.delta.tool_calls or []:
            if delta.id:
                calls[delta.index] = [delta.function.name, ""]
            calls[delta.index][1] += delta.function.arguments or ""
        reason = choice.finish_reason or reason
    return text, [tuple(calls[i]) for i in sorted(calls)], reason


def check_calls(calls, failures, where):
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
    for name, arguments in calls:
        failures.check(name in schemas, f"{where}: calls {name}, which is not there")
        try:
            jsonschema.validate(json.loads(arguments), schemas[name],
                                format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
        except (ValueError, jsonschema.ValidationError) as error:
            failures.check(False, f"{where}: {name}({arguments}): {error}")


def ask(client, question, expected, i, failures, counts, ids):
    body = {"model": "m", "messages": [{"role": "user", "content": question}], "tools": TOOLS, "seed": i,
            "tool_choice": choice_of(i, expected), "temperature": 0.7 if i % 2 else 0, "max_tokens": 400}
    whole = client.chat.completions.create(**body).choices[0]
    found = [(call.function.name, call.function.arguments) for call in whole.message.tool_calls or []]
    text, calls, reason = joined(client.chat.completions.create(**body, stream=True))
    failures.check((text, calls, reason) == (whole.message.content or "", found, whole.finish_reason),
                   f"{question}: streamed {(text, calls, reason)}, whole {whole}")
    check_calls(found, failures, question)
    failures.check(found or body["tool_choice"] == "auto", f"{question}: no call")
    failures.check(not found or whole.finish_reason == "tool_calls", f"{question}: ends by {whole.finish_reason}")
    if isinstance(body["tool_choice"], dict):
        failures.check([name for name, _ in found] == [expected], f"{question}: {found}, and {expected} was asked for")
    counts["calls"] += len(found)
    counts["answers with calls"] += bool(found)
    counts["expected function"] += any(name == expected for name, _ in found)
    for call in whole.message.tool_calls or []:
        failures.check(call.id not in ids, f"{question}: the id {call.id} came before")
        ids.add(call.id)
    if not found:
        return whole
    body["messages"].append(whole.message)
    body["messages"] += [{"role": "tool", "tool_call_id": call.id, "content": "done"} for call in whole.message.tool_calls]
    after = client.chat.completions.create(**{**body, "tool_choice": "none", "max_tokens": 30}).choices[0]
    failures.check(not after.message.tool_calls and after.message.content is not None, f"{question}: {after}")
    return whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--tessera", default=ROOT / "build/release/tessera")
    parser.add_argument("--chat-template", help="of serve: for models whose own knows no tools")
    parser.add_argument("--serve", default="", help="further options of serve")
    parser.add_argument("--verbose", action="store_true", help="shows every answer")
    options = parser.parse_args()
    template = ["--chat-template", options.chat_template] if options.chat_template else []
    server = Server(options, *template)
    failures, counts, ids = Failures(), collections.Counter(), set()
    try:
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)
        for kind, (expected, pattern, words) in enumerate(QUESTIONS):
            for i, word in enumerate(words):
                question = pattern.format(word)
                whole = ask(client, question, expected, kind + i, failures, counts, ids)
                counts["questions"] += 1
                if options.verbose:
                    print(question, whole.message.content, [call.function for call in whole.message.tool_calls or []])
    finally:
        server.stop()
    print(", ".join(f"{name}: {count}" for name, count in counts.items()) + f", failures: {len(failures)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
