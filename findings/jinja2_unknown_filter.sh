#!/usr/bin/env bash
# jinja2 3.1.6. Situation: a template names a filter that nobody has. Guess: it is refused when it is compiled, as its
# documentation of errors suggests, or always when it is reached. Seen: it depends on where it stands. At the top level compiling
# fails; inside of `if`, or of a conditional expression, it compiles, and fails only when that branch is taken. So a chat template
# may name filters of programs that run it, behind a condition, and be right everywhere else.
source "$(dirname "$0")/setup.sh"
install jinja2==3.1.6
expect $'top: refused when compiled\nif: rendered ""\nif, taken: refused when rendered\nexpression: rendered "b"\nloop: refused when compiled' <<'PYTHON'
import jinja2
templates = {"top": "{{ 'a' | nobody }}", "if": "{% if false %}{{ 'a' | nobody }}{% endif %}",
             "if, taken": "{% if true %}{{ 'a' | nobody }}{% endif %}", "expression": "{{ ('a' | nobody) if false else 'b' }}",
             "loop": "{% for i in [] %}{{ i | nobody }}{% endfor %}"}
for name, text in templates.items():
    try:
        template = jinja2.Environment().from_string(text)
    except jinja2.TemplateError:
        print(f"{name}: refused when compiled")
        continue
    try:
        print(f'{name}: rendered "{template.render()}"')
    except jinja2.TemplateError:
        print(f"{name}: refused when rendered")
PYTHON
