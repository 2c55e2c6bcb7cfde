#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace tessera::ops {

/// The symbols of the graph that an operator is made for; the operator's dims are those of them that its text
/// names.
using Symbols = std::span<const DimSymbol>;

/// The extent in the zoo's notation, for `define`: "64", "$T", "16 * $P".
std::string text(const Dim& extent);

/// An operator from its text in the zoo's notation without the `dim` line: that line, with the graph's
/// bounds, is put behind the first one. Where `text` has written symbols, other names of the text are none
/// of them, and become different from those of the dims.
DefinitionPtr define(Symbols symbols, std::string_view operator_text);

/// The line of a text that has an operator compute with all numbers of a type: "acc i64\n", "acc f64\n", or
/// nothing where f32 does.
std::string_view arithmetic_line(ElementType type);

}  // namespace tessera::ops
