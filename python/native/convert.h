#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "tessera/tessera.h"

/// From Python's values to those of the library, and back.
namespace tessera::python {

namespace py = pybind11;

/// The arguments of a call by name, each of which must be read.
class Named {
public:
    explicit Named(py::dict values) : values_(std::move(values)) {}

    /// Sets `into` where the argument is given and not None. @throws TypeError that names it
    template <typename T>
    void read(const char* name, T& into) {
        if (!values_.contains(name)) return;
        const py::object value = values_.attr("pop")(name);
        if (value.is_none()) return;
        try {
            into = value.cast<T>();
        } catch (const py::cast_error&) {
            throw py::type_error(std::string(name) + " cannot be " + std::string(py::repr(value)));
        }
    }
    /// @throws TypeError for an argument that nobody has read
    void finish() const {
        if (values_.empty()) return;
        throw py::type_error("unknown option: " + std::string(py::str(values_.begin()->first)));
    }

private:
    py::dict values_;
};

/// Whether Ctrl-C was pressed, or another handler of a signal has raised; the exception is then set. Takes
/// the GIL.
bool is_interrupted();
/// @throws what a handler of a signal has raised. Takes the GIL.
void throw_if_interrupted();

GenerateOptions generate_options(py::dict options);
CompileSettings compile_settings(py::dict settings);
OpenSettings open_settings(py::dict settings);
/// Roles and contents.
using Messages = std::vector<std::pair<std::string, std::string>>;
std::vector<TokenId> encode_chat(const ModelFile& file, const Messages& messages, bool begins_answer,
                                 std::optional<bool> thinks, const std::string& chat_template);
EmbedOptions embed_options(const std::optional<std::string>& pooling, std::optional<bool> normalise);

const char* name_of(StopReason reason);
py::dict as_dict(const Generation& generation);
py::dict as_dict(const CompileReport& report);

/// Makes every Error of the library one of Python, of this class: Error(where, entity, problem, advice,
/// is_usage).
void translate_errors(const py::object& error_class);

void declare_compiling(py::module_& module);
void declare_model(py::module_& module);
void declare_engine(py::module_& module);

}  // namespace tessera::python
