"""ONNX models of published architectures, with seeded weights: written, and checked beside onnxruntime.

    python3 bench/models bert-base --out build/models                       # both forms of the full size
    python3 bench/models --all --size tiny --out build/models --check       # what `tessera` makes of them

A name is written as NAME-SIZE-FORM.onnx; decomposed is opset 13 with operators written as exporters of that time did, fused
opset 20 with operators that stay whole. --check compiles each, by the package `tessera` on PYTHONPATH, and compares with
onnxruntime without optimisations; the bound is four times what its optimisations change, at least 1e-5 of the output's range.
Needs the packages onnx and numpy, and onnxruntime for --check.
"""

import argparse
import sys
from pathlib import Path

import onnx
import transformer_models
import vision
from builder import DECOMPOSED, FUSED

MODELS = {
    **dict.fromkeys(transformer_models.BERT, transformer_models.bert),
    "gpt2": transformer_models.gpt2,
    "gpt2-cache": transformer_models.gpt2,
    "vit-b16": transformer_models.vit,
    "sar-drn": vision.sar_drn,
    "efficientnet-b0": vision.efficientnet,
    "shufflenet-v1": vision.shufflenet_v1,
    "shufflenet-v2": vision.shufflenet_v2,
    "rednet-50": vision.rednet,
}
SEED = 68
MOST_IN_ONE_FILE = 1 << 30  # bytes; a message of the protocol buffers has at most 2 GiB


def write(name, size, form, folder):
    model = MODELS[name](name, form, size == "tiny", SEED)
    path = folder / f"{name}-{size}-{form}.onnx"
    if model.ByteSize() > MOST_IN_ONE_FILE:
        onnx.save(model, path, save_as_external_data=True, location=path.name + ".data")
    else:
        onnx.save(model, path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--all", action="store_true", help="all of them")
    parser.add_argument("--size", choices=["tiny", "full"], default="full")
    parser.add_argument("--form", choices=[DECOMPOSED, FUSED], action="append", help="default: both")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--check", action="store_true", help="compile each, and compare with onnxruntime")
    options = parser.parse_args()
    names = list(MODELS) if options.all else options.models
    unknown = [name for name in names if name not in MODELS]
    if unknown or not names:
        parser.error(f"{unknown[0] if unknown else 'nothing'} is no model, expected some of {', '.join(MODELS)}")
    options.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in names:
        for form in options.form or [DECOMPOSED, FUSED]:
            path = write(name, options.size, form, options.out)
            if not options.check:
                print(path)
                continue
            import check  # needs onnxruntime and tessera

            failed += not check.check(path, options.size == "tiny")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
