#include "cli/onnx_flags.h"

#include <CLI/CLI.hpp>

#include "cli/named_values.h"

namespace tessera::cli {

void add_onnx_flags(CLI::App& app, OnnxFlags& flags, const std::string& of_programs) {
    add_named_bounds(
        app, "--dim", flags.dims,
        "of an ONNX model: a symbolic extent, or its bounds, and of what all its values are multiples; "
        "may be repeated");
    add_named_texts(app, "--constant", flags.constants, "NAME=FILE",
                    of_programs +
                        "of an ONNX model: a number, several between commas, or a NumPy file for an "
                        "input that is known when it is compiled; may be repeated");
    add_named_texts(app, "--alias", flags.aliases, "OUTPUT=INPUT",
                    "of an ONNX model: an output that is an input with rows appended, such as "
                    "present.0.key=past.0.key: one state, which a call changes in place; may be repeated");
}

OnnxSettings onnx_settings(const OnnxFlags& flags) {
    return {.dims = named_bounds("--dim", flags.dims),
            .constants = named_texts("--constant", flags.constants),
            .aliases = named_texts("--alias", flags.aliases),
            .points = points_of("--point", flags.points)};
}

}  // namespace tessera::cli
