"""Embeddings are the pooled hidden states behind the last norm."""

import json
import os
import subprocess

import numpy as np
import pytest

import tessera


def test_the_head_times_the_state_is_the_logits(artefact, tmp_path_factory):
    """The independent way: the shipped model ties its head to the embedding, so that a hidden state must give the logits
    of its row by one product with a tensor of the checkpoint, which NumPy reads and multiplies."""
    # The search finds that the head reads the same values: they become one.
    exact = tmp_path_factory.mktemp("exact") / "exact.tsr"
    tessera.compile(tessera.shipped_model(), exact, embeddings=True, policy="exact", workers=1)
    model = tessera.load(exact)
    raw = (tessera.shipped_model() / "model.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    tensor = header["model.embed_tokens.weight"]
    begin, end = tensor["data_offsets"]
    data = raw[8 + length + begin : 8 + length + end]
    if tensor["dtype"] == "BF16":
        table = (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        table = np.frombuffer(data, {"F32": "<f4", "F16": "<f2"}[tensor["dtype"]]).astype(np.float32)
    table = table.reshape(tensor["shape"])

    texts = ["61 + 93 =", "sort 3 1 2", "4"]
    state = model.embed(texts, pooling="last", normalise=False)
    assert state.shape == (3, model.embedding_width) and state.dtype == np.float32
    for text, row in zip(texts, state):
        expected = model.logits(text)[-1]
        found = row.astype(np.float64) @ table.T.astype(np.float64)
        assert np.abs(found - expected).max() <= 3e-6 * np.abs(expected).max() * np.sqrt(len(row))

    # The mean is that of the last states of all beginnings: attention looks backwards alone.
    ids = model.encode(texts[0])
    beginnings = [
        np.frombuffer(model._native.embed([ids[: i + 1]], "last", False), np.float32) for i in range(len(ids))
    ]
    mean = model.embed(texts[0], normalise=False)
    assert np.abs(mean - np.mean(beginnings, axis=0)).max() <= 1e-5 * np.abs(mean).max()


def test_normalised_embeddings_have_length_1(model, engine):
    texts = ["1 + 1 =", "sort 9 8 7", "count 4"]
    for pooling in ("mean", "last"):
        rows = model.embed(texts, pooling=pooling)
        assert rows.shape == (3, model.embedding_width)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert np.array_equal(model.embed(texts[1], pooling=pooling), rows[1])
        of_engine = engine.embed(texts, pooling=pooling)
        assert np.abs(of_engine - rows).max() < 2e-3  # its steps are another code


def test_the_engine_embeds_beside_texts(engine):
    alone = engine.embed("1 + 1 =")
    request = engine.submit("61 + 93 =", max_tokens=60, past_end=True)
    for _ in range(3):
        assert np.array_equal(engine.embed("1 + 1 ="), alone)
    assert len(request.result().ids) == 60


def test_the_tool_prints_the_same(model, artefact):
    tool = os.environ["TESSERA_TOOL"]
    for pooling in ("mean", "last"):
        shown = subprocess.run([tool, "embed", artefact, "-p", "1 + 1 =", "-p", "sort 9 8 7", "--pooling", pooling, "--json"],
                               capture_output=True, check=True)
        document = json.loads(shown.stdout)
        assert document["pooling"] == pooling and document["normalised"] is True
        found = np.array([one["embedding"] for one in document["embeddings"]], np.float32)
        assert np.array_equal(found, model.embed(["1 + 1 =", "sort 9 8 7"], pooling=pooling))
    plain = subprocess.run([tool, "embed", artefact, "-p", "-", "--keep-length"], input=b"1 + 1 =", capture_output=True, check=True)
    expected = model.embed("1 + 1 =", normalise=False)
    assert np.allclose(np.array(plain.stdout.split(), np.float32), expected)


def test_wrong_calls(model):
    with pytest.raises(tessera.Error, match="expected one of mean, last"):
        model.embed("1", pooling="attention")
