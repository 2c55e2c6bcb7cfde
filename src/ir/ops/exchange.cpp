#include "ir/ops/exchange.h"

#include <charconv>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "support/error.h"

namespace tessera::ops {
namespace {

constexpr std::string_view kExchange = "exchange_between_ranks";
constexpr std::string_view kTransposed = "transpose_between_ranks";
constexpr std::string_view kPlaced = "place_between_ranks_";  ///< the starts follow

/// Text of an operator that copies X to Z, axis by axis.
struct Copy {
    std::vector<std::string> iterators, read, written, source, result;

    explicit Copy(const TensorType& type) {
        for (size_t i = 0; i < type.shape.size(); ++i) {
            source.push_back(text(type.shape[i]));
            iterators.push_back(fmt::format("x{}: {}", i, source.back()));
            read.push_back(fmt::format("x{}", i));
        }
        written = read;
        result = source;
    }

    DefinitionPtr define(Symbols symbols, std::string_view name, ElementType element) const {
        return ops::define(
            symbols, fmt::format("op {0}({1})\nin  X {2}[{3}] of [{4}]\nout Z {2}[{5}] of [{6}] = X * 1\n{7}",
                                 name, fmt::join(iterators, ", "), tessera::name(element),
                                 fmt::join(read, ", "), fmt::join(source, ", "), fmt::join(written, ", "),
                                 fmt::join(result, ", "), arithmetic_line(element)));
    }
};

std::vector<int64_t> numbers_of(std::string_view text) {
    std::vector<int64_t> numbers;
    while (!text.empty()) {
        int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc()) return {};
        numbers.push_back(number);
        text.remove_prefix(static_cast<size_t>(end - text.data()));
        if (text.starts_with('_')) text.remove_prefix(1);
    }
    return numbers;
}

}  // namespace

DefinitionPtr exchange(Symbols symbols, const TensorType& type, int64_t ranks) {
    Copy copy(type);
    copy.iterators.insert(copy.iterators.begin(), "r: 1");
    copy.written.insert(copy.written.begin(), "r");
    copy.result.insert(copy.result.begin(), std::to_string(ranks));
    return copy.define(symbols, kExchange, type.element);
}

DefinitionPtr transposed_exchange(Symbols symbols, const TensorType& type, int axis, int64_t ranks) {
    const auto a = static_cast<size_t>(axis);
    TESSERA_CHECK(type.shape[a].is_constant() && type.shape[a].factor % ranks == 0);
    const int64_t part = type.shape[a].factor / ranks;
    Copy copy(type);
    copy.iterators[a] = fmt::format("x{}: {}", a, part);
    copy.read[a] = fmt::format("r * {} + x{}", part, a);
    copy.result[a] = std::to_string(part);
    copy.iterators.insert(copy.iterators.begin(), fmt::format("r: {}", ranks));
    copy.written.insert(copy.written.begin(), "r");
    copy.result.insert(copy.result.begin(), std::to_string(ranks));
    return copy.define(symbols, kTransposed, type.element);
}

DefinitionPtr placed_exchange(Symbols symbols, const TensorType& type, int axis,
                              std::span<const int64_t> starts) {
    Copy copy(type);
    copy.result[static_cast<size_t>(axis)] = std::to_string(starts.back());
    return copy.define(symbols, fmt::format("{}{}", kPlaced, fmt::join(starts, "_")), type.element);
}

std::optional<ExchangeCall> exchange_call(const Definition& definition) {
    using Kind = ExchangeCall::Kind;
    if (definition.name == kExchange) return ExchangeCall{Kind::kGather};
    if (definition.name == kTransposed) return ExchangeCall{Kind::kTranspose};
    if (!definition.name.starts_with(kPlaced)) return std::nullopt;
    return ExchangeCall{Kind::kPlace, numbers_of(std::string_view(definition.name).substr(kPlaced.size()))};
}

bool is_exchange(const Definition& definition) {
    return exchange_call(definition).has_value();
}

}  // namespace tessera::ops
