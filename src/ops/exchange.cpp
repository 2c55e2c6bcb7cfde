#include "ops/exchange.h"

#include <fmt/core.h>

namespace tessera::ops {
namespace {

constexpr std::string_view kExchange = "exchange_between_ranks";

}  // namespace

DefinitionPtr exchange(Symbols symbols, const TensorType& type, int64_t ranks) {
    std::string iterators, axes;
    for (size_t i = 0; i < type.shape.size(); ++i) {
        iterators += fmt::format(", x{}: {}", i, text(type.shape[i]));
        axes += fmt::format("{}x{}", i == 0 ? "" : ", ", i);
    }
    return define(symbols, fmt::format("op {0}(r: {1}{2})\nin  X {3}[{4}]\nout Z {3}[r, {4}] = X * 1\n",
                                       kExchange, ranks, iterators, name(type.element), axes));
}

bool is_exchange(const Definition& definition) {
    return definition.name == kExchange;
}

}  // namespace tessera::ops
