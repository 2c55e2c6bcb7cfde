"""The programs that are compared, built once into build/compare (outside the source tree; a second run finds them there)."""

import hashlib
import os
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LLAMA_VERSION = "0.3.36"  # of llama-cpp-python, whose source package carries llama.cpp
LLAMA_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
LLAMA_OPTIONS = [
    "-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", "-DBUILD_SHARED_LIBS=OFF", "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_SERVER=OFF", "-DLLAMA_BUILD_APP=OFF", "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF", "-DLLAMA_OPENSSL=OFF",
]  # fmt: skip
LLAMA_PROGRAMS = ["llama-bench", "llama-quantize", "llama-perplexity"]


def call(*command: object, **options: object) -> subprocess.CompletedProcess:
    """Runs a command, whose output is shown only if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}\nended with exit code {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def fetch_llama(cache: Path) -> Path:
    """The unpacked sources, whose package has the pinned checksum."""
    name = f"llama_cpp_python-{LLAMA_VERSION}"
    package = cache / "download" / f"{name}.tar.gz"
    if not package.exists():
        say(f"fetching {package.name}")
        # pip asks the package for its metadata, which builds nothing.
        call(sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "llama-cpp-python",
             f"llama-cpp-python=={LLAMA_VERSION}", "-d", package.parent)  # fmt: skip
    found = hashlib.sha256(package.read_bytes()).hexdigest()
    if found != LLAMA_SHA256:
        raise SystemExit(f"{package}: has SHA-256 {found}, expected {LLAMA_SHA256}")
    sources = cache / name / "vendor" / "llama.cpp"
    if not sources.exists():
        with tarfile.open(package) as archive:
            archive.extractall(cache)
    return sources


def build_llama(cache: Path, wanted: list[str] = LLAMA_PROGRAMS) -> Path:
    """The folder with these programs of llama.cpp."""
    build = cache / f"llama-{LLAMA_VERSION}"
    if not all((build / "bin" / program).exists() for program in wanted):
        sources = fetch_llama(cache)
        say("building llama.cpp: about 15 minutes on two cores")
        call("cmake", "-S", sources, "-B", build, "-G", "Ninja", *LLAMA_OPTIONS)
        call("nice", "-n", "10", "ninja", "-C", build, f"-j{os.cpu_count()}", *wanted)
    return build / "bin"


def compile_program(source: Path, out: Path, *more: object) -> Path:
    """With include paths and libraries; for this very machine; again where the source is newer."""
    if not out.exists() or out.stat().st_mtime < source.stat().st_mtime:
        out.parent.mkdir(parents=True, exist_ok=True)
        call("g++", "-std=c++20", "-O3", "-march=native", "-fopenmp", source, "-o", out, *more)
    return out


def build_llama_depth(cache: Path) -> Path:
    """llama.cpp with a cache that is filled once."""
    sources, build = fetch_llama(cache), cache / f"llama-{LLAMA_VERSION}"
    libraries = [build / name for name in ("src/libllama.a", "ggml/src/libggml.a", "ggml/src/libggml-cpu.a", "ggml/src/libggml-base.a")]
    return compile_program(ROOT / "bench/compare/llama_depth.cpp", build / "bin" / "llama_depth",
                           f"-I{sources}/include", f"-I{sources}/ggml/include", *libraries, "-ldl")  # fmt: skip


def build_gemm(cache: Path) -> Path | None:
    """oneDNN's matrix product; None without libdnnl-dev."""
    if not Path("/usr/include/oneapi/dnnl/dnnl.hpp").exists():
        say("libdnnl-dev is not installed: no column for oneDNN")
        return None
    return compile_program(ROOT / "bench/compare/gemm.cpp", cache / "gemm", "-ldnnl")
