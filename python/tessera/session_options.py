"""How a session of tessera.onnxruntime computes, and what it says of its model."""

import enum
from typing import NamedTuple, Union

from tessera.errors import Error


class GraphOptimizationLevel(enum.IntEnum):
    """ORT_DISABLE_ALL leaves the searches out; the others are alike."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """All operators are computed one after the other, by all threads."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Has no effect."""

    DEFAULT = 0
    PRIORITY_BASED = 1


class SessionOptions:
    """How a session computes. `intra_op_num_threads` is the number of workers, 0 that of the processors;
    `graph_optimization_level` is described there; what else has no counterpart is kept and has no effect.

    Of add_session_config_entry two keys are known: "tessera.dims", such as "batch=1..8,width=320", keeps symbolic extents
    open or states them, and "tessera.search_effort" is that of tessera.compile.
    """

    __slots__ = (
        "enable_cpu_mem_arena",
        "enable_mem_pattern",
        "enable_mem_reuse",
        "enable_profiling",
        "execution_mode",
        "execution_order",
        "graph_optimization_level",
        "inter_op_num_threads",
        "intra_op_num_threads",
        "log_severity_level",
        "log_verbosity_level",
        "logid",
        "optimized_model_filepath",
        "profile_file_prefix",
        "use_deterministic_compute",
        "use_per_session_threads",
        "_entries",
    )

    def __init__(self) -> None:
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_profiling = False
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.inter_op_num_threads = 0
        self.intra_op_num_threads = 0
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.optimized_model_filepath = ""
        self.profile_file_prefix = "onnxruntime_profile_"
        self.use_deterministic_compute = False
        self.use_per_session_threads = True
        self._entries: dict[str, str] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keys of onnxruntime's own are kept, and have no effect."""
        if key.startswith("tessera.") and key not in ("tessera.dims", "tessera.search_effort"):
            raise ValueError(f"{key} is no option, expected tessera.dims or tessera.search_effort")
        self._entries[key] = str(value)

    def get_session_config_entry(self, key: str) -> str:
        """Raises RuntimeError for a key that was not added."""
        if key not in self._entries:
            raise RuntimeError(f"SessionOptions does not have configuration with key: {key}")
        return self._entries[key]

    def has_session_config_entry(self, key: str) -> bool:
        """Whether it was added."""
        return key in self._entries

    def register_custom_ops_library(self, path: str) -> None:
        """Raises Error: operators are compiled, a library has none to read."""
        raise Error(path, "", "is a library of operators, which are not supported")


class RunOptions:
    """Has no effect."""

    def __init__(self) -> None:
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.terminate = False

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Has no effect."""


class NodeArg(NamedTuple):
    """An input or output of a model: its name, its type as onnxruntime writes it, "tensor(float)", and its shape, in
    which a symbolic extent is its name, or None without one."""

    name: str
    type: str
    shape: list[Union[int, str, None]]


class ModelMetadata(NamedTuple):
    """What a model says of itself."""

    custom_metadata_map: dict[str, str]
    description: str
    domain: str
    graph_description: str
    graph_name: str
    producer_name: str
    version: int
