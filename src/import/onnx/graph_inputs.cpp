#include "import/onnx/graph_inputs.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "import/npy/npy_file.h"
#include "ir/characters.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

/// A negative extent is a symbol, too; one without a name is called after its input. Empty for a number.
std::string symbol_name(const std::variant<int64_t, std::string>& extent, const std::string& input,
                        size_t axis) {
    if (const auto* number = std::get_if<int64_t>(&extent); number && *number >= 0) return "";
    std::string name;
    if (const auto* given = std::get_if<std::string>(&extent)) name = *given;
    if (name.empty()) name = fmt::format("{}_{}", input, axis);
    std::string chosen;
    for (const char c : name) chosen += continues_name(c) ? c : '_';
    return starts_name(chosen.front()) ? chosen : "_" + chosen;
}

}  // namespace

std::vector<DimSymbol> symbols_of(const GraphText& graph, const ImportOptions& options) {
    std::vector<DimSymbol> symbols;
    for (const ValueInfo& input : graph.inputs) {
        if (!input.shape) continue;
        for (size_t axis = 0; axis < input.shape->size(); ++axis) {
            const std::string name = symbol_name((*input.shape)[axis], input.name, axis);
            const auto found = options.dims.find(name);
            if (name.empty() || found == options.dims.end() || found->second.low == found->second.high ||
                std::ranges::find(symbols, name, &DimSymbol::name) != symbols.end())
                continue;
            symbols.push_back({.name = name, .low = found->second.low, .high = found->second.high});
        }
    }
    return symbols;
}

std::vector<Dim> input_shape(const ValueInfo& input, const ImportOptions& options) {
    const auto refuse_input = [](const std::string& problem) { throw Error("", "", problem); };
    if (input.kind != "tensor") refuse_input(fmt::format("is of type {}, expected a tensor", input.kind));
    if (!element_of(input.type))
        refuse_input(fmt::format("is of type {}, which is not supported", name(input.type)));
    if (!input.shape) refuse_input("has no shape");
    std::vector<Dim> shape;
    for (size_t axis = 0; axis < input.shape->size(); ++axis) {
        const auto& extent = (*input.shape)[axis];
        const std::string symbol = symbol_name(extent, input.name, axis);
        if (symbol.empty()) {
            shape.emplace_back(std::get<int64_t>(extent));
            continue;
        }
        const auto found = options.dims.find(symbol);
        if (found == options.dims.end())
            refuse_input(
                fmt::format("has the symbolic extent {}, for which --dim {}=NUMBER or {}=LOW..HIGH "
                            "is needed",
                            symbol, symbol, symbol));
        if (found->second.low == found->second.high) {
            shape.emplace_back(found->second.low);
        } else {
            shape.emplace_back(symbol);
        }
    }
    check_size(shape);
    return shape;
}

Operand stated_input(const ValueInfo& input, const std::vector<Dim>& shape, const std::string& text) {
    Operand operand{.type = input.type, .shape = shape, .known = {}, .id = {}};
    if (!operand.is_static()) throw Error("", "", "is stated, and has a symbolic extent");
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) {
        if (operand.elements() > kMostKnown) throw Error("", "", "is stated, and has too many elements");
        return known_numbers(input.type, operand.extents(),
                             std::vector<double>(static_cast<size_t>(operand.elements()), number));
    }
    const NpyFile file = NpyFile::open(text);
    if (file.shape() != operand.extents())
        throw Error("", "", fmt::format("is stated by {}, whose array has another shape", text));
    const auto bytes = std::make_shared<std::vector<std::byte>>(file.elements(operand.element()));
    operand.known = TensorContents{*bytes, bytes};
    return operand;
}

}  // namespace tessera::import::onnx
