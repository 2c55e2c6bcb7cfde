"""ONNX models as functions of arrays, and by the interface of onnxruntime."""

import subprocess
import sys

import numpy as np
import onnx_file as f
import pytest

import tessera
import tessera.onnxruntime as ort


@pytest.fixture
def linear(cache, tmp_path):
    """relu(x w) of x with rows [n, 2]."""
    w = np.array([[1, 0, -1], [0, 1, 1]], np.float32)
    text = f.model(
        [f.node("MatMul", ["x", "w"], ["xw"]), f.node("Relu", ["xw"], ["y"])],
        [f.value("x", f.FLOAT, "n", 2)],
        [f.value("y", f.FLOAT, "n", 3)],
        [f.weight("w", w)],
        {"classes": "a b c"},
    )
    (tmp_path / "linear.onnx").write_bytes(text)
    return tmp_path / "linear.onnx"


def expected(x):
    return np.maximum(np.asarray(x, np.float32) @ np.array([[1, 0, -1], [0, 1, 1]], np.float32), 0)


@pytest.fixture
def reshape(cache, tmp_path):
    """x + 1 in a shape that is an input."""
    text = f.model(
        [f.node("Add", ["x", "one"], ["more"]), f.node("Reshape", ["more", "shape"], ["y"])],
        [f.value("x", f.FLOAT, 2, 6), f.value("shape", f.INT64, 2)],
        [f.value("y", f.FLOAT, None, None)],
        [f.weight("one", np.ones(1, np.float32))],
    )
    (tmp_path / "reshape.onnx").write_bytes(text)
    return tmp_path / "reshape.onnx"


def test_a_model_is_a_function(linear):
    program = tessera.compile(linear, dims={"n": (1, 8)}, search_effort=0, workers=1)
    assert program.inputs == [tessera.ArrayInfo("x", np.dtype("float32"), ("n", 2))]
    assert program.outputs == [tessera.ArrayInfo("y", np.dtype("float32"), ("n", 3))]
    assert program.workers == 1 and program.states == []
    for rows in (1, 5, 8, 5):
        x = np.random.default_rng(rows).standard_normal((rows, 2)).astype(np.float32)
        np.testing.assert_allclose(program(x=x)["y"], expected(x), rtol=1e-6)
    np.testing.assert_array_equal(program({"x": [[1, 2]]})["y"], [[1, 2, 1]])
    strided = np.ones((2, 4), np.float32)[:, ::2]
    np.testing.assert_array_equal(program(x=strided)["y"], expected(strided))
    np.testing.assert_array_equal(program(x=np.asfortranarray(strided).astype(">f4"))["y"], expected(strided))
    again = tessera.compile(linear, dims={"n": (1, 8)}, search_effort=0, workers=1)
    assert again.artefact == program.artefact
    assert tessera.compile(linear, dims={"n": 4}, search_effort=0, workers=1).artefact != program.artefact


def test_a_wrong_call_names_the_array(linear):
    program = tessera.compile(linear, dims={"n": (1, 8)}, search_effort=0, workers=1)
    for given, problem in [
        ({}, "lacks its input x"),
        ({"x": np.ones((1, 2), np.float64)}, "`x`: has elements `<f8`, expected f32"),
        ({"x": np.ones((1, 3), np.float32)}, "`x`: has 3 along axis 1"),
        ({"x": np.ones((9, 2), np.float32)}, "`x`: has n = 9"),
        ({"x": np.ones((1, 2), np.float32), "z": [1]}, "`z`: is no input"),
    ]:
        with pytest.raises(tessera.Error, match=problem.replace("[", r"\[")):
            program(given)
    with pytest.raises(tessera.Error, match="symbolic extent n"):
        tessera.compile(linear)
    with pytest.raises(TypeError, match="out is missing"):
        tessera.compile("folder")
    with pytest.raises(TypeError, match="unknown option: dims"):
        tessera.compile(tessera.shipped_model(), "x.tsr", dims={"n": 1})


def test_an_artefact_is_a_function(linear, tmp_path):
    report = tessera.compile(linear, tmp_path / "linear.tsr", dims={"n": 2}, search_effort=0, workers=1)
    assert report.artefact_bytes == (tmp_path / "linear.tsr").stat().st_size
    np.testing.assert_array_equal(tessera.Program(tmp_path / "linear.tsr")(x=np.eye(2, dtype=np.float32))["y"],
                                  expected(np.eye(2)))


def test_a_changed_model_is_compiled_again(linear):
    first = tessera.compile(linear, dims={"n": 1}, search_effort=0, workers=1)
    linear.write_bytes(linear.read_bytes().replace(b"Relu", b"Sqrt"))
    assert tessera.compile(linear, dims={"n": 1}, search_effort=0, workers=1)(x=[[4, 9]])["y"].tolist() == [
        [2, 3, pytest.approx(5**0.5)]
    ]
    assert first(x=[[4, 9]])["y"].tolist() == [[4, 9, 5]]


def session(model, **settings):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    for key, text in settings.items():
        options.add_session_config_entry(f"tessera.{key}", text)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def test_a_session_describes_its_model(linear):
    for one in (session(str(linear)), session(linear.read_bytes())):
        assert one.get_inputs() == [ort.NodeArg("x", "tensor(float)", ["n", 2])]
        assert [port.name for port in one.get_outputs()] == ["y"]
        meta = one.get_modelmeta()
        assert meta.custom_metadata_map == {"classes": "a b c"}
        assert (meta.producer_name, meta.graph_name, meta.version) == ("tests", "graph", 3)
        assert one.get_providers() == ort.get_available_providers()


def test_a_session_takes_every_shape(linear):
    one = session(linear)
    for rows in (1, 3, 2, 4, 9, 1):  # from the second one on n is kept open
        x = np.random.default_rng(rows).standard_normal((rows, 2)).astype(np.float32)
        np.testing.assert_allclose(one.run(["y"], {"x": x})[0], expected(x), rtol=1e-6)
    assert [bounds for bounds, _ in one._programs] == [(("n", 1, 1),), (("n", 1, 4),), (("n", 1, 16),)]
    bounded = session(linear, dims="n=1..8")
    for rows in (1, 8):
        bounded.run(None, {"x": np.ones((rows, 2), np.float32)})
    assert len(bounded._programs) == 1
    with pytest.raises(tessera.Error, match="n = 9"):
        bounded.run(None, {"x": np.ones((9, 2), np.float32)})


def test_a_session_refuses_by_name(linear):
    one = session(linear)
    x = np.ones((1, 2), np.float32)
    with pytest.raises(ValueError, match=r"Required inputs \(\['x'\]\) are missing"):
        one.run(None, {})
    with pytest.raises(ValueError, match="z is no input"):
        one.run(None, {"x": x, "z": x})
    with pytest.raises(ValueError, match="z is no output"):
        one.run(["z"], {"x": x})
    with pytest.raises(tessera.Error, match="`x`: is of type float64, expected float32"):
        one.run(None, {"x": x.astype(np.float64)})
    with pytest.raises(tessera.Error, match="`x`: has 3 axes, expected 2"):
        one.run(None, {"x": x[None]})
    with pytest.raises(AttributeError):
        ort.SessionOptions().intra_op_threads = 1
    with pytest.raises(ValueError, match="tessera.dim is no option"):
        ort.SessionOptions().add_session_config_entry("tessera.dim", "n=1")
    with pytest.warns(UserWarning, match="CUDAExecutionProvider"):
        ort.InferenceSession(linear, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])


def test_inputs_that_steer_are_constants(reshape):
    """Of each shape that is asked for there is a program."""
    one = session(reshape)
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    for shape in ([3, 4], [4, 3], [3, 4], [12, -1]):
        (y,) = one.run(None, {"x": x, "shape": np.array(shape)})
        np.testing.assert_array_equal(y, (x + 1).reshape(shape))
    assert len(one._programs) == 3
    constant = tessera.compile(reshape, constants={"shape": [6, 2]}, search_effort=0, workers=1)
    np.testing.assert_array_equal(constant(x=x)["y"], (x + 1).reshape(6, 2))


def test_a_cache_grows_in_place(cache, tmp_path):
    """A running sum over what a decoder keeps, as exporters write it: past in, present out."""
    text = f.model(
        [
            f.node("Concat", ["past", "new"], ["rows"], axis=1),
            f.node("Identity", ["rows"], ["present"]),
            f.node("MatMul", ["weights", "rows"], ["y"]),
        ],
        [f.value("past", f.FLOAT, 2, "held", 4), f.value("new", f.FLOAT, 2, 1, 4), f.value("weights", f.FLOAT, 2, 1, "total")],
        [f.value("y", f.FLOAT, 2, 1, 4), f.value("present", f.FLOAT, 2, "total", 4)],
    )
    (tmp_path / "cache.onnx").write_bytes(text)
    options = {"dims": {"held": (0, 7), "total": (1, 8)}, "search_effort": 0, "workers": 1}
    program = tessera.compile(tmp_path / "cache.onnx", aliases={"present": "past"}, **options)
    assert program.states == [tessera.ArrayInfo("past", np.dtype("float32"), (2, 8, 4))]
    assert [one.name for one in program.inputs] == ["new", "weights"]
    random = np.random.default_rng(0)
    rows = np.zeros((2, 0, 4), np.float32)
    for step in range(8):
        new = random.standard_normal((2, 1, 4)).astype(np.float32)
        weights = random.standard_normal((2, 1, step + 1)).astype(np.float32)
        rows = np.concatenate([rows, new], axis=1)
        results = program(new=new, weights=weights, continues=step > 0)
        assert ("past" in results) == (step == 0)
        np.testing.assert_allclose(results["y"], weights @ rows, rtol=1e-5, atol=1e-6)
    given = np.zeros((2, 8, 4), np.float32)
    given[:, :3] = rows[:, :3]
    results = program(new=rows[:, 3:4], weights=np.ones((2, 1, 4), np.float32), past=given)
    np.testing.assert_array_equal(results["past"][:, :4], rows[:, :4])
    for aliases, problem in [
        ({"y": "past"}, "has 0 axes along which both"),
        ({"present": "new"}, "has 0 axes along which both"),
        ({"nothing": "past"}, "names `nothing`, which is no output"),
        ({"present": "weights"}, "has 0 axes"),
    ]:
        with pytest.raises(tessera.Error, match=problem):
            tessera.compile(tmp_path / "cache.onnx", aliases=aliases, **options)
    options["dims"] = {"held": (0, 6), "total": (1, 8)}
    with pytest.raises(tessera.Error, match="expected the same number of rows more"):
        tessera.compile(tmp_path / "cache.onnx", aliases={"present": "past"}, **options)


def test_programs_that_import_onnxruntime_run_unchanged(linear):
    script = """
import sys, tessera.onnxruntime
sys.modules["onnxruntime"] = tessera.onnxruntime
import onnxruntime
from onnxruntime import InferenceSession, SessionOptions, get_available_providers
onnxruntime.set_default_logger_severity(3)
session = InferenceSession(sys.argv[1], sess_options=SessionOptions(), providers=get_available_providers())
print(session.run([], {"x": [[1, 2]]})[0].tolist())
"""
    shown = subprocess.run([sys.executable, "-c", script, linear], capture_output=True, check=True, text=True)
    assert shown.stdout == "[[1.0, 2.0, 1.0]]\n"
