#include "import/onnx/graph_inputs.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "import/npy/npy_file.h"
#include "ir/characters.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

/// A symbolic extent: its name in the graph, and the one that the model gives, if it does.
struct Symbol {
    std::string name;
    std::string given;
};

/// A negative extent is a symbol, too; one without a name is called after its input, as is one that some
/// exporters call "?". Nothing for a number.
std::optional<Symbol> symbol_of(const std::variant<int64_t, std::string>& extent, const std::string& input,
                                size_t axis) {
    if (const auto* number = std::get_if<int64_t>(&extent); number && *number >= 0) return std::nullopt;
    Symbol symbol;
    if (const auto* given = std::get_if<std::string>(&extent)) symbol.given = *given;
    const bool is_named =
        std::ranges::any_of(symbol.given, [](char c) { return c != '_' && continues_name(c); });
    if (!is_named) symbol.given.clear();
    const std::string all = is_named ? symbol.given : fmt::format("{}_{}", input, axis);
    for (const char c : all) symbol.name += continues_name(c) ? c : '_';
    if (!starts_name(symbol.name.front())) symbol.name = "_" + symbol.name;
    return symbol;
}

/// As the user states it, by either name.
const Extent* stated_extent(const ImportOptions& options, const Symbol& symbol) {
    for (const std::string& name : {symbol.name, symbol.given})
        if (const auto found = options.dims.find(name); found != options.dims.end()) return &found->second;
    return nullptr;
}

/// An aliased input has the number of rows that its output has: what it holds at first follows.
template <typename Visit>
void for_each_symbol(const GraphText& graph, const Aliases& aliases, Visit visit) {
    for (const ValueInfo& input : graph.inputs) {
        if (!input.shape) continue;
        const auto alias = aliases.find(input.name);
        for (size_t axis = 0; axis < input.shape->size(); ++axis) {
            const bool grows = alias != aliases.end() && alias->second.axis == axis;
            const ValueInfo& named =
                grows ? *std::ranges::find(graph.outputs, alias->second.output, &ValueInfo::name) : input;
            if (const std::optional<Symbol> symbol = symbol_of((*named.shape)[axis], named.name, axis))
                visit(*symbol);
        }
    }
}

/// Those of "1,2.5"; none if it is no list of numbers.
std::vector<double> numbers_in(std::string_view text) {
    std::vector<double> numbers;
    for (const char *at = text.data(), *all = at + text.size();; ++at) {
        double number = 0;
        const auto [end, error] = std::from_chars(at, all, number);
        if (error != std::errc() || (end != all && *end != ',')) return {};
        numbers.push_back(number);
        if (end == all) return numbers;
        at = end;
    }
}

}  // namespace

std::optional<std::string> symbol_name(const std::variant<int64_t, std::string>& extent,
                                       const std::string& input, size_t axis) {
    const std::optional<Symbol> symbol = symbol_of(extent, input, axis);
    return symbol ? std::optional(symbol->name) : std::nullopt;
}

const Extent* stated_extent(const ImportOptions& options, const std::variant<int64_t, std::string>& extent,
                            const std::string& input, size_t axis) {
    const std::optional<Symbol> symbol = symbol_of(extent, input, axis);
    return symbol ? stated_extent(options, *symbol) : nullptr;
}

std::vector<DimSymbol> symbols_of(const GraphText& graph, const ImportOptions& options,
                                  const Aliases& aliases) {
    std::vector<DimSymbol> symbols;
    for_each_symbol(graph, aliases, [&](const Symbol& symbol) {
        const Extent* extent = stated_extent(options, symbol);
        if (!extent || extent->low == extent->high ||
            std::ranges::find(symbols, symbol.name, &DimSymbol::name) != symbols.end())
            return;
        symbols.push_back(
            {.name = symbol.name, .low = extent->low / extent->step, .high = extent->high / extent->step});
    });
    return symbols;
}

std::vector<std::string> unknown_dims(const GraphText& graph, const ImportOptions& options,
                                      const Aliases& aliases) {
    std::set<std::string> known;
    const auto visit = [&](const Symbol& symbol) { known.insert({symbol.name, symbol.given}); };
    for_each_symbol(graph, {}, visit);
    for_each_symbol(graph, aliases, visit);
    std::vector<std::string> unknown;
    for (const auto& [name, extent] : options.dims)
        if (!known.contains(name)) unknown.push_back(name);
    return unknown;
}

Point point_of(const GraphText& graph, const ImportOptions& options, const Aliases& aliases,
               const Point& stated) {
    Point point{.name = stated.name, .weight = stated.weight, .values = {}};
    std::set<std::string> used;
    for_each_symbol(graph, aliases, [&](const Symbol& symbol) {
        const Extent* extent = stated_extent(options, symbol);
        if (!extent || extent->low == extent->high) return;
        auto value = stated.values.find(symbol.name);
        if (value == stated.values.end()) value = stated.values.find(symbol.given);
        if (value == stated.values.end())
            throw Error("", "", fmt::format("has no value for {}", symbol.name));
        if (value->second < extent->low || value->second > extent->high || value->second % extent->step != 0)
            throw Error("", "",
                        fmt::format("has {} for {}, expected {} to {}{}", value->second, symbol.name,
                                    extent->low, extent->high,
                                    extent->step == 1 ? "" : fmt::format(" in steps of {}", extent->step)));
        point.values[symbol.name] = value->second / extent->step;
        used.insert(value->first);
    });
    for (const auto& [name, value] : stated.values)
        if (!used.contains(name))
            throw Error("", "", fmt::format("has a value for {}, which is no symbol with bounds", name));
    return point;
}

std::vector<Dim> input_shape(const ValueInfo& input, const ImportOptions& options) {
    const auto refuse_input = [](const std::string& problem) { throw Error("", "", problem); };
    if (input.kind != "tensor") refuse_input(fmt::format("is of type {}, expected a tensor", input.kind));
    if (!element_of(input.type))
        refuse_input(fmt::format("is of type {}, which is not supported", name(input.type)));
    // A file holds wider floats, and nothing rounds them to powers of two.
    if (input.type == DataType::kFloat8E8M0)
        refuse_input("is of FLOAT8E8M0, which is supported in initializers alone");
    if (!input.shape) refuse_input("has no shape");
    std::vector<Dim> shape;
    std::vector<std::string> missing;
    for (size_t axis = 0; axis < input.shape->size(); ++axis) {
        const std::optional<Symbol> symbol = symbol_of((*input.shape)[axis], input.name, axis);
        if (!symbol) {
            shape.emplace_back(std::get<int64_t>((*input.shape)[axis]));
            continue;
        }
        const Extent* extent = stated_extent(options, *symbol);
        if (!extent)
            missing.push_back(symbol->name);
        else if (extent->low == extent->high)
            shape.emplace_back(extent->low);
        else if (extent->low % extent->step != 0 || extent->high % extent->step != 0)
            refuse_input(fmt::format("has the extent {} from {} to {}, expected multiples of its step {}",
                                     symbol->name, extent->low, extent->high, extent->step));
        else
            shape.emplace_back(symbol->name, extent->step);
    }
    if (missing.size() == 1)
        refuse_input(
            fmt::format("has the symbolic extent {0}, for which --dim {0}=NUMBER or {0}=LOW..HIGH is needed",
                        missing[0]));
    if (!missing.empty())
        refuse_input(
            fmt::format("has the symbolic extents {0}, for each of which --dim {1}=NUMBER or "
                        "{1}=LOW..HIGH is needed",
                        fmt::join(missing, ", "), missing[0]));
    check_size(shape);
    return shape;
}

Operand stated_input(const ValueInfo& input, const std::vector<Dim>& shape, const std::string& text) {
    Operand operand{.type = input.type, .shape = shape, .known = {}, .id = {}};
    if (!operand.is_static()) throw Error("", "", "is stated, and has a symbolic extent");
    if (std::vector<double> numbers = numbers_in(text); !numbers.empty()) {
        if (operand.elements() > kMostKnown) throw Error("", "", "is stated, and has too many elements");
        const auto elements = static_cast<size_t>(operand.elements());
        if (numbers.size() == 1) numbers.resize(elements, numbers.front());
        if (numbers.size() != elements)
            throw Error("", "",
                        fmt::format("is stated by {} numbers, expected {}", numbers.size(), elements));
        return known_numbers(input.type, operand.extents(), numbers);
    }
    const NpyFile file = NpyFile::open(text);
    if (file.shape() != operand.extents())
        throw Error("", "", fmt::format("is stated by {}, whose array has another shape", text));
    const auto bytes = std::make_shared<std::vector<std::byte>>(file.elements(operand.element()));
    operand.known = TensorContents{*bytes, bytes};
    return operand;
}

}  // namespace tessera::import::onnx
