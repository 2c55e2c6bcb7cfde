"""Cases of templates with the texts that Jinja2 makes of them: oracle.py OUT.json SEED RANDOM TEMPLATE...

The environment is that of transformers.utils.chat_template_utils: an immutable sandbox with trimmed blocks, loop
controls, `generation` blocks, and a `tojson` that escapes nothing.
"""

import json
import random
import sys

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from random_template import random_template


class Generations(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_same"), [], [], body).set_lineno(line)

    def _same(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generations, "jinja2.ext.loopcontrols"])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    return made


# Texts are of letters that no template has, so that the origin of every byte can be seen.
LETTERS = "αβγδεζηθικλμνξοπρστυφχψωΑΒΓΔ"
ROLES = ["user", "assistant", "user", "assistant", "tool", "system"]


def words(rng):
    separators = [" ", " ", "\n", "\n\n", "  ", ""]
    text = "".join("".join(rng.choices(LETTERS, k=rng.randint(1, 6))) + rng.choice(separators)
                   for _ in range(rng.randint(0, 6)))
    return rng.choice(["", " ", "\n"]) + text


def arguments(rng, depth=0):
    kinds = [lambda: words(rng), lambda: words(rng)]
    if depth < 2:
        kinds += [lambda: {words(rng).strip() or "α": arguments(rng, depth + 1) for _ in range(rng.randint(0, 3))},
                  lambda: [arguments(rng, depth + 1) for _ in range(rng.randint(0, 3))]]
    return rng.choice(kinds)()


def conversation(rng):
    messages = []
    if rng.random() < 0.4:
        messages.append({"role": "system", "content": words(rng)})
    alternates = rng.random() < 0.7
    for i in range(rng.randint(0 if rng.random() < 0.05 else 1, 7)):
        role = ("user", "assistant")[i % 2] if alternates else rng.choice(ROLES)
        message = {"role": role, "content": words(rng)}
        if role == "assistant" and rng.random() < 0.3:
            message["tool_calls"] = [
                {"type": "function", "function": {"name": words(rng).strip(), "arguments": {"α": arguments(rng)}}}
                for _ in range(rng.randint(1, 2))]
        messages.append(message)
    variables = {"messages": messages, "add_generation_prompt": rng.random() < 0.5, "bos_token": "<s>", "eos_token": "</s>"}
    if rng.random() < 0.3:
        variables["tools"] = [{"type": "function", "function": {"name": words(rng).strip(), "parameters": arguments(rng)}}]
    if rng.random() < 0.3:
        variables["enable_thinking"] = rng.random() < 0.5
    return variables


def case(made, template, variables):
    result = {"template": template, "variables": variables}
    try:
        result["text"] = made.from_string(template).render(**variables)
    except Exception as error:  # whatever Python raises, the module must refuse as well
        result["error"] = f"{type(error).__name__}: {error}"
    return result


def main():
    out, seed, count, *paths = sys.argv[1:]
    rng = random.Random(int(seed))
    made = environment()
    cases = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            template = file.read()
        cases += [case(made, template, conversation(rng)) for _ in range(50)]
    for _ in range(int(count)):
        template, variables = random_template(rng)
        cases.append(case(made, template, variables))
    with open(out, "w", encoding="utf-8") as file:
        json.dump(cases, file, ensure_ascii=False)


if __name__ == "__main__":
    main()
