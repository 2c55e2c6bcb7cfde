#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "native/arguments.h"
#include "tessera/tessera.h"

/// From Python's values to those of the library, and back.
namespace tessera::python {

/// Whether Ctrl-C was pressed, or another handler of a signal has raised; the exception is then set. Takes
/// the GIL.
bool is_interrupted();
/// @throws what a handler of a signal has raised. Takes the GIL.
void throw_if_interrupted();

GenerateOptions generate_options(py::dict options);
CompileSettings compile_settings(py::dict settings);
OpenSettings open_settings(py::dict settings);
OnnxSettings onnx_settings(py::dict settings);
/// @param messages each as JSON
std::vector<TokenId> encode_chat(const ModelFile& file, const std::vector<std::string>& messages,
                                 bool begins_answer, std::optional<bool> thinks,
                                 const std::string& chat_template);
EmbedOptions embed_options(const std::optional<std::string>& pooling, std::optional<bool> normalise);

/// Contents of an array, which the modules in Python make one of NumPy: pybind11 before 2.12 misreads what
/// NumPy 2 says of types, and then makes wrong arrays without a word.
py::bytearray array_bytes(std::span<const std::byte> bytes);
/// The same of `rows * width` numbers that `fill` writes.
py::bytearray float_rows(size_t rows, size_t width, const std::function<void(float*)>& fill);

const char* name_of(StopReason reason);
py::dict as_dict(const Generation& generation);
py::dict as_dict(const CompileReport& report);

/// Makes every Error of the library one of Python, of this class: Error(where, entity, problem, advice,
/// is_usage).
void translate_errors(const py::object& error_class);

void declare_compiling(py::module_& module);
void declare_model(py::module_& module);
void declare_engine(py::module_& module);
void declare_program(py::module_& module);

}  // namespace tessera::python
