#include "compiler/programs/bind_symbols.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error.h"

namespace tessera::programs {
namespace {

class Binding {
public:
    explicit Binding(const runtime::Manifest& manifest)
        : manifest_(manifest), found_(manifest.symbols.size()) {}

    void choose(const std::string& symbol, int64_t value, const std::string& where) {
        const int index = runtime::symbol_index(manifest_, symbol);
        if (index < 0)
            throw Error(where, symbol, "is no symbol of the program",
                        manifest_.symbols.empty() ? "it has none" : "it has " + names());
        set(static_cast<size_t>(index), value, "--symbol", where, symbol);
    }

    void match(const std::string& name, const std::vector<Dim>& expected, const GivenShape& given) {
        if (given.shape.size() != expected.size())
            throw Error(given.where, name,
                        fmt::format("has shape [{}], expected {}", fmt::join(given.shape, ", "),
                                    shape_text(expected)));
        for (size_t axis = 0; axis < expected.size(); ++axis) {
            const Dim& dim = expected[axis];
            const int64_t extent = given.shape[axis];
            if (dim.symbol ? extent % dim.factor != 0 : extent != dim.factor)
                throw Error(
                    given.where, name,
                    fmt::format("has {} along axis {} of [{}], expected {}{}", extent, axis,
                                fmt::join(given.shape, ", "), dim.symbol ? "a multiple of " : "", dim.factor),
                    fmt::format("its shape is {}", shape_text(expected)));
            if (!dim.symbol) continue;
            const auto index = static_cast<size_t>(runtime::symbol_index(manifest_, *dim.symbol));
            set(index, extent / dim.factor, fmt::format("axis {} of `{}`", axis, name), given.where, name);
        }
    }

    std::vector<int64_t> values(const std::string& where) const {
        std::vector<int64_t> all;
        for (size_t i = 0; i < found_.size(); ++i) {
            const DimSymbol& symbol = manifest_.symbols[i];
            if (!found_[i] && symbol.low != symbol.high)
                throw Error(where, symbol.name, "is a symbol that no input's shape gives a value",
                            fmt::format("--symbol {}=N, {}", symbol.name, range(symbol)));
            all.push_back(found_[i] ? found_[i]->value : symbol.low);
        }
        return all;
    }

private:
    struct Found {
        int64_t value;
        std::string by;
    };

    static std::string range(const DimSymbol& symbol) {
        return fmt::format("{} to {}{}", symbol.low, symbol.high,
                           symbol.multiple_of == 1 ? "" : fmt::format(" in steps of {}", symbol.multiple_of));
    }

    std::string names() const {
        std::vector<std::string_view> all;
        for (const DimSymbol& symbol : manifest_.symbols) all.push_back(symbol.name);
        return fmt::format("{}", fmt::join(all, ", "));
    }

    void set(size_t index, int64_t value, const std::string& by, const std::string& where,
             const std::string& entity) {
        const DimSymbol& symbol = manifest_.symbols[index];
        if (value < symbol.low || value > symbol.high || value % symbol.multiple_of != 0)
            throw Error(where, entity,
                        fmt::format("has {} = {} by {}, expected {}", symbol.name, value, by, range(symbol)));
        if (found_[index] && found_[index]->value != value)
            throw Error(where, entity,
                        fmt::format("has {} = {} by {}, but {} = {} by {}", symbol.name, value, by,
                                    symbol.name, found_[index]->value, found_[index]->by));
        if (!found_[index]) found_[index] = Found{value, by};
    }

    const runtime::Manifest& manifest_;
    std::vector<std::optional<Found>> found_;
};

}  // namespace

std::vector<Dim> array_shape(const runtime::Manifest::Tensor& input) {
    return input.is_scalar ? std::vector<Dim>() : input.shape;
}

std::vector<Dim> array_shape(const runtime::Manifest::State& state) {
    std::vector<Dim> shape = state.shape;
    if (state.repeat > 1) shape.insert(shape.begin(), Dim(state.repeat));
    return shape;
}

std::string extent_text(const Dim& dim) {
    if (!dim.symbol) return fmt::to_string(dim.factor);
    return dim.factor == 1 ? *dim.symbol : fmt::format("{} * {}", dim.factor, *dim.symbol);
}

std::string shape_text(const std::vector<Dim>& shape) {
    std::vector<std::string> extents;
    for (const Dim& dim : shape) extents.push_back(extent_text(dim));
    return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::vector<int64_t> bind_symbols(const runtime::Manifest& manifest, const GivenShapes& given,
                                  const std::map<std::string, int64_t>& chosen, const std::string& where) {
    Binding binding(manifest);
    for (const auto& [symbol, value] : chosen) binding.choose(symbol, value, where);
    const auto match = [&](const std::string& name, const std::vector<Dim>& expected) {
        const auto shape = given.find(name);
        if (shape != given.end()) binding.match(name, expected, shape->second);
    };
    for (const auto& input : manifest.inputs) match(input.array_name(), array_shape(input));
    for (const auto& input : manifest.empty_inputs) match(input.array_name(), input.shape);
    for (const auto& state : manifest.states) match(state.array_name(), array_shape(state));
    return binding.values(where);
}

}  // namespace tessera::programs
