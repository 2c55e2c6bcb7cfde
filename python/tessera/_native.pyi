# The extension is for the modules beside it, which have the types.
from typing import Any

def __getattr__(name: str) -> Any: ...
