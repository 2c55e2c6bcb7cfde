"""A back end of onnx (onnx.backend.base), which its test runner takes:

    import onnx.backend.test, tessera.onnx_backend
    tests = onnx.backend.test.BackendTest(tessera.onnx_backend, __name__)

It needs the package onnx. What is not supported is refused as BackendIsNotSupposedToImplementIt, with its name.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt
from onnx.helper import tensor_dtype_to_np_dtype

from tessera.errors import Error
from tessera.onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions


def _refuse(error: Error) -> BackendIsNotSupposedToImplementIt:
    return BackendIsNotSupposedToImplementIt(str(error))


class TesseraBackendRep(BackendRep):
    """A model, compiled for the shapes that it meets."""

    def __init__(self, model: onnx.ModelProto, session: InferenceSession) -> None:
        self._session = session
        self._types = [
            tensor_dtype_to_np_dtype(output.type.tensor_type.elem_type)
            if output.type.HasField("tensor_type") and output.type.tensor_type.elem_type
            else None
            for output in model.graph.output
        ]

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The outputs. `inputs`: an array for each input, in the model's order, or one array, or a dictionary."""
        names = [port.name for port in self._session.get_inputs()]
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        given = dict(inputs) if isinstance(inputs, dict) else dict(zip(names, inputs))
        try:
            results = self._session.run(None, given)
        except Error as error:
            raise _refuse(error) from error
        return tuple(
            result if dtype is None else result.astype(dtype) for result, dtype in zip(results, self._types)
        )


class TesseraBackend(Backend):
    """The back end. Node by node there is nothing to search: models are compiled with the least effort, unless the
    argument `optimised` says otherwise."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **arguments: Any) -> TesseraBackendRep:
        """Reads a model. Raises BackendIsNotSupposedToImplementIt for types of inputs that are not supported."""
        super().prepare(model, device)
        options = SessionOptions()
        if not arguments.get("optimised", False):
            options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            return TesseraBackendRep(model, InferenceSession(model.SerializeToString(), options))
        except Error as error:
            raise _refuse(error) from error

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Sequence[Any], device: str = "CPU", **arguments: Any) -> tuple[Any, ...]:
        """One node. `outputs_info`: type and shape of each output, which onnx does not infer."""
        arrays = [np.asarray(one) for one in inputs]
        value = lambda name, dtype, shape: onnx.helper.make_tensor_value_info(  # noqa: E731
            name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
        )
        known = [value(name, one.dtype, one.shape) for name, one in zip(filter(None, node.input), arrays)]
        stated = arguments.pop("outputs_info", None)
        outputs = (
            [value(name, dtype, shape) for name, (dtype, shape) in zip(node.output, stated)]
            if stated
            else [onnx.ValueInfoProto(name=name) for name in node.output]
        )
        graph = onnx.helper.make_graph([node], "node", known, outputs)
        opset = onnx.helper.make_opsetid("", arguments.pop("opset_version", onnx.defs.onnx_opset_version()))
        model = onnx.helper.make_model(graph, opset_imports=[opset])
        if not stated:
            model = onnx.shape_inference.infer_shapes(model)
        return cls.prepare(model, device, **arguments).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """The processor alone."""
        return device.partition(":")[0] == "CPU"


is_compatible = TesseraBackend.is_compatible
prepare = TesseraBackend.prepare
run_model = TesseraBackend.run_model
run_node = TesseraBackend.run_node
supports_device = TesseraBackend.supports_device
