"""Random templates of small expressions and statements, for oracle.py."""

NAMES = ["text", "number", "items", "table", "flag", "nothing", "missing", "real", "nested"]
TEXTS = ["''", "'a'", "'b c'", "' x '", "'\\n'", "\"it's\"", "'ä'", "'aXb'", "'1'", "'ab ab'"]
FILTERS = ["upper", "lower", "trim", "length", "first", "last", "list", "join(', ')", "default('d')", "string", "int",
           "float", "abs", "sort", "unique | list", "reverse | list", "tojson", "tojson(indent=2)", "title", "capitalize",
           "replace('a', 'z')", "replace('', '-')", "indent", "indent(2, true)", "map('string') | list", "select | list",
           "reject('none') | list", "map('upper') | join('/')", "items | list", "dictsort", "min", "max", "sum", "round",
           "round(1)", "batch(2) | list", "slice(2) | list", "count", "center(9)", "truncate(5)", "truncate(5, true, '')",
           "d('e', true)", "selectattr('k') | list", "map(attribute='k') | list", "map(attribute='k', default=0) | list",
           "rejectattr('k', 'eq', 1) | list", "sort(reverse=true)", "format(1)", "safe", "join", "select('string') | list",
           "sort(attribute='k') | map(attribute='k') | list", "trim('a')", "float(3)", "int(7)", "attr('x')"]
METHODS = ["upper()", "strip()", "split()", "split('a')", "split('b', 1)", "rsplit(' ', 1)", "rsplit(None, 1)",
           "startswith('a')", "endswith(('b', 'c'))", "replace('a', 'bb', 1)", "title()", "find('b')", "rfind('b')",
           "count('a')", "lstrip('a ')", "rstrip()", "splitlines()", "partition(' ')", "rpartition('b')", "isdigit()",
           "isupper()", "islower()", "isalpha()", "isspace()", "join(['p', 'q'])", "center(7, '*')", "ljust(5)", "rjust(5)",
           "removeprefix('a')", "removesuffix('b')", "get('k')", "get('zz', 3)", "items()|list", "keys()|list",
           "values()|list", "index('b')", "capitalize()", "k", "zz", "append(1)", "update({})", "count(1)"]
TESTS = ["defined", "undefined", "none", "string", "number", "mapping", "sequence", "iterable", "integer", "float", "boolean",
         "true", "false", "odd", "even", "divisibleby 3", "eq 1", "equalto('a')", "in [1, 'a']", "upper", "lower", "gt 1",
         "ne 2", "sameas true", "callable", "ge(2)", "lt 5"]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in", "**"]
INDICES = ["[0]", "[-1]", "[1:]", "[:2]", "[::-1]", "[1:-1]", "['k']", "[9]", "[::2]", "[-3:3]", "['zz']"]


def variables(rng):
    return {
        "text": rng.choice(["", "abc", " a b\nc ", "Aa bB", "12", "1.5", "ab ab", "ß é", "a'b\"c", "x\ty"]),
        "number": rng.choice([0, 1, 2, 3, -7, 10]),
        "real": rng.choice([0.5, -1.25, 3.0, 1e20, 1e-7, 2.675]),
        "items": rng.choice([[], [3, 1, 2], ["b", "a", "B"], [1, "a"], [{"k": 2}, {"k": 1}], [[1, 2], [3]], [True, None]]),
        "table": rng.choice([{}, {"k": 1}, {"k": "v", "a": [1]}, {"items": 5, "k": {"k": 0}}]),
        "flag": rng.choice([True, False]),
        "nothing": None,
        "nested": [{"k": "a", "n": {"x": 1}}, {"k": "b", "n": {"x": 2}}],
    }


# Expressions that mostly succeed, by the kind of their value. "T", "N", "L", "D" and "B" stand for an expression of that
# kind: text, number, list, mapping, condition.
FORMS = {
    "T": ["text", "text", "T + T", "T ~ N", "T[1:]", "T[::-1]", "T | upper", "T | trim", "T.strip()", "T | title",
          "T.replace('a', T)", "L | join(', ')", "L | map('string') | join", "N | string", "L | tojson", "D | tojson(indent=2)",
          "T | default(T)", "(T if B else T)", "T.split('b')[0]", "T | capitalize", "T.lstrip('a ')", "T.rstrip()",
          "T | replace('a', 'z')", "T | indent(2, true)", "T.center(9)", "T | center(9)", "L | string", "T | truncate(5)",
          "T | truncate(4, true, '~')", "T * 2", "'%s/%r' % (T, N)", "'%5s|%-4d|%.2f' % (T, 3, N)", "T.partition(' ')[2]",
          "'{}-{}'.format(T, N)", "'{1}{{{0}}}{k}'.format(T, B, k=L)", "T.removeprefix('a')", "nested[0].k", "missing | default(T)", "T.title()", "T.upper()", "T | lower", "D | string"] + TEXTS,
    "N": ["number", "0", "1", "2", "N + N", "N - N", "N * 2", "N // 3", "N % 3", "-N", "T | length", "L | length", "T | int",
          "N | abs", "(N if B else N)", "L | map('length') | sum if false else N", "T.find('b')", "T.count('a')", "D | length",
          "real", "N / 4", "N | round(1)", "N | float", "2 ** 3", "L.count(1)", "loop.index if loop is defined else N"],
    "L": ["items", "[T, N]", "[N, 1, 2]", "L + L", "L[1:]", "L[::-1]", "T.split()", "T | list", "D | list", "D.items() | list",
          "D | items | list", "D | dictsort", "L | reverse | list", "L | map('string') | list", "L | select('string') | list",
          "L | reject('none') | list", "range(N | abs | int) | list", "T.splitlines()", "L | unique | list", "L | batch(2) | list",
          "L | slice(2) | list", "nested | map(attribute='k') | list", "nested | selectattr('k', 'eq', T) | list",
          "[T, T] | sort", "[N, N] | sort(reverse=true)", "T.rsplit(' ', 1)", "nested | map(attribute='n.x') | list",
          "nested | sort(attribute='k', reverse=true) | map(attribute='n') | list", "(L if B else L)", "D.keys() | list",
          "[T, T] | map('upper') | list", "(T, N)", "nested", "D.values() | list", "L | first | string | list"],
    "D": ["table", "{'k': T}", "{'k': N, T: L}", "dict(a=N)", "{T: {'x': T}}", "nested[0]", "nested[0].n", "(D if B else D)"],
    "B": ["flag", "T == T", "N < N", "N <= N < N", "T in T", "N in L", "not B", "B and B", "B or B", "L is iterable", "T is string",
          "N is odd", "N is divisibleby 3", "missing is defined", "T is not none", "D is mapping", "'k' in D", "T.startswith('a')",
          "T.isdigit()", "T is upper", "T is lower", "N is number", "L == L", "D == D", "T != T", "nothing is none", "T < T",
          "N is in L", "T.endswith(('b', 'c'))", "L is sequence", "N is gt 1", "true", "'a' not in T", "T", "L", "N", "D.k"],
}


def typed(rng, kind, depth=0):
    form = rng.choice(FORMS[kind][:1] if depth > 3 else FORMS[kind])
    parts = []
    for i, letter in enumerate(form):
        before, after = form[i - 1] if i else " ", form[i + 1] if i + 1 < len(form) else " "
        alone = letter in FORMS and not (before.isalnum() or after.isalnum() or before in "'_" or after in "'_")
        inner = typed(rng, letter, depth + 1) if alone else letter
        parts.append(f"({inner})" if alone and form != letter else inner)
    return "".join(parts)


def expression(rng, depth=0):
    if rng.random() < 0.8:
        return typed(rng, rng.choice("TTTNNLLDB"), depth)
    return untyped(rng, depth)


def untyped(rng, depth=0):
    kind = rng.random()
    if depth > 3 or kind < 0.25:
        return rng.choice(NAMES + TEXTS + ["0", "1", "2", "3.5", "-1", "true", "none", "[1, 2]", "('a', 2)", "{'k': 1}",
                                           "[]", "range(3)"])
    inner = untyped(rng, depth + 1)
    if kind < 0.45:
        return f"{inner} | {rng.choice(FILTERS)}"
    if kind < 0.55:
        return f"({inner}).{rng.choice(METHODS)}"
    if kind < 0.62:
        return f"({inner}){rng.choice(INDICES)}"
    if kind < 0.7:
        return f"({inner} is {rng.choice(['', 'not '])}{rng.choice(TESTS)})"
    if kind < 0.9:
        other = untyped(rng, depth + 1)
        left, right = (f"({inner})", f"({other})") if rng.random() < 0.7 else (inner, other)
        return f"{left} {rng.choice(BINARY)} {right}"
    if kind < 0.94:
        return f"({inner} if {untyped(rng, depth + 1)} else {untyped(rng, depth + 1)})"
    return rng.choice([f"not {inner}", f"-({inner})", f"[{inner}, 1]", f"{{'k': {inner}}}", f"({inner},)"])


def space(rng):
    return rng.choice(["", "", " ", "\n", "\n  ", "  \n", " x ", "\n\n", "y\n"])


def sign(rng, plus=True):
    return rng.choice(["", "", "-", "+" if plus else ""])


def tag(rng, inner):
    return f"{space(rng)}{{%{sign(rng)} {inner} {sign(rng)}%}}{space(rng)}"


def statement(rng, depth=0):
    kind = rng.random()
    if depth > 2 or kind < 0.45:
        return f"{space(rng)}{{{{{sign(rng, False)} {expression(rng)} {sign(rng, False)}}}}}{space(rng)}"
    body = "".join(statement(rng, depth + 1) for _ in range(rng.randint(1, 2)))
    name = rng.choice(["a", "b"])  # not one of NAMES: Jinja2 hides those that are set later from inner blocks
    if kind < 0.6:
        other = tag(rng, "else") + statement(rng, depth + 1) if rng.random() < 0.5 else ""
        return tag(rng, f"if {expression(rng, 2)}") + body + other + tag(rng, "endif")
    if kind < 0.75:
        body += rng.choice(["", "{{ loop.index }}", "{{ loop.last }}", "{{ loop.cycle('p', 'q') }}",
                            "{% if loop.first %}{% continue %}{% endif %}{{ loop.previtem }}", "{{ loop.changed(x) }}",
                            "{% if loop.index > 1 %}{% break %}{% endif %}"])
        condition = f" if {expression(rng, 3)}" if rng.random() < 0.2 else ""
        other = tag(rng, "else") + "none" if rng.random() < 0.3 else ""
        target = rng.choice(["x", "x", "x", "x, y"])
        return tag(rng, f"for {target} in {expression(rng, 2)}{condition}") + body + other + tag(rng, "endfor")
    if kind < 0.85:
        return tag(rng, f"set {name} = {expression(rng, 1)}") + body + f"{{{{ {name} }}}}"
    if kind < 0.9:
        name = rng.choice(["block", "other"])  # Jinja2 hides the variable of this name while it makes the block
        return tag(rng, f"set {name}") + body + tag(rng, "endset") + f"{{{{ {name} | trim }}}}"
    if kind < 0.95:
        call = rng.choice(["m(1)", "m(2, b=3)", "m()", "m(b='q')", "m(1, 2)", "m(1, 2, 3)"])
        return tag(rng, "macro m(a, b=2)") + body + "{{ a }}{{ b }}" + tag(rng, "endmacro") + f"{{{{ {call} }}}}"
    return rng.choice([tag(rng, f"with a = {expression(rng, 2)}") + body + "{{ a }}" + tag(rng, "endwith"),
                       tag(rng, "filter upper") + body + tag(rng, "endfilter"),
                       f"{space(rng)}{{#{sign(rng)} note {sign(rng)}#}}{space(rng)}",
                       tag(rng, "raw") + "{{ raw }}" + tag(rng, "endraw")])


def random_template(rng):
    return "".join(statement(rng) for _ in range(rng.randint(1, 3))), variables(rng)
