"""What help() says of every public name."""

import inspect
import typing

import pytest

import tessera

CLASSES = [one for one in vars(tessera).values() if inspect.isclass(one) and one.__module__.startswith("tessera")]
FUNCTIONS = [getattr(tessera, name) for name in tessera.__all__ if inspect.isfunction(getattr(tessera, name))]


def members():
    for one in CLASSES:
        for name, member in vars(one).items():
            if name.startswith("_") and name != "__next__":
                continue
            if isinstance(member, property):
                yield f"{one.__name__}.{name}", member.fget, member.__doc__
            elif inspect.isfunction(member):
                yield f"{one.__name__}.{name}", member, member.__doc__


def test_all_names_are_there():
    assert set(tessera.__all__) <= set(vars(tessera))
    assert len(CLASSES) >= 9 and len(FUNCTIONS) >= 6


@pytest.mark.parametrize("name, call, text", [(f.__name__, f, f.__doc__) for f in FUNCTIONS] + list(members()))
def test_calls_say_what_they_do_with_types(name, call, text):
    assert text and len(text) > 20, name
    hints = typing.get_type_hints(call)
    assert "return" in hints, name
    parameters = inspect.signature(call).parameters.values()
    missing = [one.name for one in parameters if one.name not in ("self", "_") and one.name not in hints]
    assert missing == [], name


@pytest.mark.parametrize("one", CLASSES)
def test_classes_say_what_they_are(one):
    assert one.__doc__ and len(one.__doc__) > 40
    fields = typing.get_type_hints(one)
    absent = [name for name in fields if not name.startswith("_") and name not in one.__doc__]
    assert absent == []


@pytest.mark.parametrize("call", [tessera.compile, tessera.load, tessera.inspect, tessera.Model.generate,
                                  tessera.Model.logits, tessera.Model.embed, tessera.Model.encode,
                                  tessera.Engine.submit, tessera.Engine])
def test_errors_are_said(call):
    assert "Raises Error" in call.__doc__


@pytest.mark.parametrize("call", [tessera.Model.logits, tessera.Model.embed, tessera.Engine.embed])
def test_shapes_are_said(call):
    assert "float32[" in call.__doc__


def test_a_pickled_error_is_the_same():
    import pickle

    error = tessera.Error("file", "entity", "problem", "advice", True)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "file: `entity`: problem (advice)"
    assert (again.where, again.entity, again.problem, again.advice, again.is_usage) == (
        "file", "entity", "problem", "advice", True)
