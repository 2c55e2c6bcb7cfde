"""Compiling, and what an artefact holds."""

import json
import os
import signal
import subprocess
import threading

import pytest

import tessera


def test_passes_are_told(artefact, passes):
    assert passes[0] == "read-model" and len(passes) > 5


def test_an_artefact_is_data(artefact, model):
    document = tessera.inspect(artefact)
    assert document == model.inspect()
    assert document["costs"] is None
    manifest = document["manifest"]
    assert [one["name"] for one in manifest["outputs"]] == ["logits", "hidden"]
    assert manifest["outputs"][1]["shape"][1] == model.embedding_width
    plan = document["plan"]
    assert plan["workers"] == 1 and len(plan["specialisation"]) >= 2
    points = {point["point"]: point["operators"] for point in document["operators"]}
    assert all(one["bytes"] > 0 for one in points["decode_256"])
    assert sum(one["flops"] * one["times"] for one in points["decode_256"]) > 2 * 700_000
    assert 'workers = 1' in tessera.plan_text(artefact)


def test_costs_are_data(artefact):
    costs = tessera.inspect(artefact, costs=True)["costs"]
    assert not costs["is_measured"]  # nobody has measured for this cache
    steps = {step["point"]: step for step in costs["steps"]}
    decode = steps["decode_256"]
    assert decode["specialisation"] == "decode" and decode["seconds"] > 0
    total = sum(kernel["seconds"] * kernel["times"] for kernel in decode["kernels"])
    assert total == pytest.approx(decode["seconds"])


def test_the_tool_prints_the_same_document(artefact):
    tool = os.environ["TESSERA_TOOL"]
    shown = subprocess.run([tool, "inspect", artefact, "--json", "--costs"], capture_output=True, check=True)
    assert json.loads(shown.stdout) == tessera.inspect(artefact, costs=True)


def test_a_plan_compiles_again(artefact, model, tmp_path):
    (tmp_path / "plan.toml").write_text(tessera.plan_text(artefact))
    again = tmp_path / "again.tsr"
    report = tessera.compile(tessera.shipped_model(), again, embeddings=True, context=256, search_effort=0,
                             plan=tmp_path / "plan.toml")
    assert report.code_was_cached
    assert again.read_bytes() == artefact.read_bytes()


def test_ranks_are_in_one_file(tmp_path):
    two = tmp_path / "two.tsr"
    tessera.compile(tessera.shipped_model(), two, ranks=2, workers=1, context=64, search_effort=0)
    run = [os.environ["TESSERA_TOOL"], "run", two, "-p", "1 + 1 =", "-n", "2", "--raw", "--verbose"]
    assert "ranks:   2, " in subprocess.run(run, capture_output=True, check=True, text=True).stderr
    with pytest.raises(tessera.Error, match="expected 1 to 128"):
        tessera.compile(tessera.shipped_model(), two, ranks=129)
    with pytest.raises(tessera.Error, match="none.json"):
        tessera.compile(tessera.shipped_model(), two, workers=1, tuning=tmp_path / "none.json")


def test_wrong_settings(tmp_path):
    with pytest.raises(tessera.Error) as caught:
        tessera.compile(tessera.shipped_model(), tmp_path / "a.tsr", policy="loose")
    assert caught.value.entity == "policy" and caught.value.is_usage
    with pytest.raises(TypeError, match="unknown option: worker"):
        tessera.compile(tessera.shipped_model(), tmp_path / "a.tsr", worker=1)
    with pytest.raises(tessera.Error, match="does not exist"):
        tessera.compile(tmp_path / "none", tmp_path / "a.tsr")


def test_what_on_pass_raises_ends_the_compilation(tmp_path):
    seen = []

    def first(name):
        seen.append(name)
        if len(seen) == 3:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        tessera.compile(tessera.shipped_model(), tmp_path / "a.tsr", on_pass=first)
    assert len(seen) == 3 and not (tmp_path / "a.tsr").exists()


def test_ctrl_c_ends_the_compiler(tmp_path):
    def on_pass(name):
        if "compil" in name:
            threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()

    with pytest.raises(KeyboardInterrupt):
        tessera.compile(tessera.shipped_model(), tmp_path / "a.tsr", workers=1, context=200, on_pass=on_pass)
    assert not (tmp_path / "a.tsr").exists()


def test_without_embeddings(tmp_path):
    plain = tmp_path / "plain.tsr"
    tessera.compile(tessera.shipped_model(), plain, workers=1, search_effort=0)
    model = tessera.load(plain)
    assert model.embedding_width == 0
    with pytest.raises(tessera.Error) as caught:
        model.embed("1")
    assert caught.value.problem == "was compiled without embeddings" and "--embeddings" in caught.value.advice
    with pytest.raises(tessera.Error, match="compiled without embeddings"):
        tessera.load(plain, embeddings=True)
    retargeted = tmp_path / "other.tsr"
    tessera.retarget(plain, retargeted, workers=1, search_effort=0)
    assert tessera.load(retargeted).generate("1 + 1 =", max_tokens=2).ids
