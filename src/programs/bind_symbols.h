#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/manifest.h"

/// Programs: artefacts of graphs that somebody wrote, called with arrays (docs/programs.md).
namespace tessera::programs {

/// The shape of an array that a call is given.
struct GivenShape {
    std::string where;  ///< its file, for errors
    std::vector<int64_t> shape;
};
/// By the names of inputs and states.
using GivenShapes = std::map<std::string, GivenShape>;

/// What the file of an input or a state must look like: the shape in the manifest; before it an axis for the
/// repetitions of a state that has several.
std::vector<Dim> array_shape(const runtime::Manifest::Tensor& input);
std::vector<Dim> array_shape(const runtime::Manifest::State& state);
/// "[T, 40]", "[16 * P, 8]".
std::string shape_text(const std::vector<Dim>& shape);

/// Values of the symbols, in the manifest's order, as the shapes and `chosen` say. A symbol that may have one
/// value only needs neither.
/// @pre every name of `given` is an input or a state
/// @throws Error naming the file, the tensor and the axis that do not fit; a symbol that nothing says, that
/// two say differently, that is out of its range; a name in `chosen` that is no symbol.
std::vector<int64_t> bind_symbols(const runtime::Manifest& manifest, const GivenShapes& given,
                                  const std::map<std::string, int64_t>& chosen, const std::string& where);

}  // namespace tessera::programs
