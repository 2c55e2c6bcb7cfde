#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run/runtime/manifest.h"

/// Programs: artefacts of user-written graphs, called with arrays (docs/programs.md).
namespace tessera::programs {

/// The shape of an array that is given to a call.
struct GivenShape {
    std::string where;  ///< its file, for errors
    std::vector<int64_t> shape;
};
/// By the names of inputs and states.
using GivenShapes = std::map<std::string, GivenShape>;

/// The shape of the file of an input or a state: that of the manifest, after an axis for the repetitions of a
/// state that has several.
std::vector<Dim> array_shape(const runtime::Manifest::Tensor& input);
std::vector<Dim> array_shape(const runtime::Manifest::State& state);
/// "40", "T", "16 * P".
std::string extent_text(const Dim& dim);
/// "[T, 40]", "[16 * P, 8]".
std::string shape_text(const std::vector<Dim>& shape);

/// Values of the symbols, in the manifest's order, by the shapes and `chosen`. A symbol with one possible
/// value needs neither.
/// @pre every name of `given` is an input or a state
/// @throws Error naming the file, the tensor and the axis that do not fit; a symbol without a value, with two
/// values, or out of its range; a name in `chosen` that is no symbol.
std::vector<int64_t> bind_symbols(const runtime::Manifest& manifest, const GivenShapes& given,
                                  const std::map<std::string, int64_t>& chosen, const std::string& where);

}  // namespace tessera::programs
