#include "run/runtime/manifest.h"

#include <algorithm>
#include <set>

#include "support/checked.h"
#include "support/error.h"
#include "support/limits.h"

namespace tessera::runtime {
namespace {

// Far above anything that exists and small enough that sums of two never overflow.
constexpr int64_t kLargestExtent = int64_t{1} << 40;
constexpr int64_t kLargestBytes = int64_t{1} << 50;
constexpr size_t kLargestRank = 16;
constexpr size_t kLongestName = 4096;

class Verifier {
public:
    Verifier(const Manifest& manifest, const std::string& where) : manifest_(manifest), where_(where) {}

    void run() {
        range("workers", manifest_.workers, 1, kMostWorkers);
        symbols();
        names("inputs", manifest_.inputs);
        names("outputs", manifest_.outputs);
        names("states", manifest_.states);
        names("constants", manifest_.constants);
        names("specialisations", manifest_.specialisations);
        for (const auto& tensor : manifest_.inputs) shape("inputs", tensor.name, tensor.shape);
        for (const auto& tensor : manifest_.outputs) shape("outputs", tensor.name, tensor.shape);
        for (const auto& state : manifest_.states) {
            shape("states", state.name, state.shape);
            shape("states", state.name, state.stored);
            range("states." + state.name + ".repeat", state.repeat, 1, kLargestExtent);
        }
        constants();
        if (manifest_.specialisations.empty()) fail("specialisations", "is empty: there is no code to call");
        for (const auto& specialisation : manifest_.specialisations) check(specialisation);
        if (manifest_.text) text(*manifest_.text);
    }

private:
    [[noreturn]] void fail(const std::string& entity, const std::string& problem) const {
        throw Error(where_, entity, problem);
    }

    void range(const std::string& entity, int64_t value, int64_t low, int64_t high) const {
        if (value < low || value > high)
            fail(entity, fmt::format("is {}, expected {} to {}", value, low, high));
    }

    template <class Items>
    void names(const std::string& list, const Items& items) const {
        std::set<std::string_view> seen;
        for (const auto& item : items) {
            if (item.name.empty() || item.name.size() > kLongestName)
                fail(list, fmt::format("holds a name of {} characters", item.name.size()));
            if (!seen.insert(item.name).second) fail(list + "." + item.name, "occurs twice");
        }
    }

    void symbols() const {
        names("symbols", manifest_.symbols);
        for (const DimSymbol& symbol : manifest_.symbols) {
            const std::string entity = "symbols." + symbol.name;
            range(entity + ".low", symbol.low, 0, kLargestExtent);
            range(entity + ".high", symbol.high, symbol.low, kLargestExtent);
            range(entity + ".multiple_of", symbol.multiple_of, 1, kLargestExtent);
        }
    }

    void shape(const std::string& list, const std::string& name, const std::vector<Dim>& dims) const {
        const std::string entity = list + "." + name;
        if (dims.size() > kLargestRank)
            fail(entity, fmt::format("has {} axes, at most {} are possible", dims.size(), kLargestRank));
        for (const Dim& dim : dims) {
            range(entity, dim.factor, dim.is_constant() ? 0 : 1, kLargestExtent);
            if (dim.symbol && symbol_index(manifest_, *dim.symbol) < 0)
                fail(entity, fmt::format("has an extent in `{}`, which is no symbol", *dim.symbol));
        }
    }

    void constants() const {
        range("constants_bytes", manifest_.constants_bytes, 0, kLargestBytes);
        int64_t end = 0;
        for (const Manifest::Constant& constant : manifest_.constants) {
            const std::string entity = "constants." + constant.name;
            for (const int64_t extent : constant.shape) range(entity + ".shape", extent, 0, kLargestExtent);
            range(entity + ".offset", constant.offset, end, manifest_.constants_bytes);
            if (constant.offset % 64 != 0)
                fail(entity + ".offset", fmt::format("is {}, expected a multiple of 64", constant.offset));
            range(entity + ".bytes", constant.bytes, 0, manifest_.constants_bytes - constant.offset);
            range(entity + ".repeat", constant.repeat, 1, kLargestExtent);
            if (constant.repeat > 1)
                range(entity + ".stride", constant.stride, constant.bytes, kLargestBytes);
            const std::optional<int64_t> before_last = checked_mul(constant.repeat - 1, constant.stride);
            const int64_t left = manifest_.constants_bytes - constant.offset - constant.bytes;
            if (!before_last || *before_last > left)
                fail(entity,
                     fmt::format("has {} repetitions that do not fit into the section", constant.repeat));
            end = constant.offset + *before_last + constant.bytes;
        }
    }

    void check(const Manifest::Specialisation& specialisation) const {
        const std::string entity = "specialisations." + specialisation.name;
        if (specialisation.entry.empty() || specialisation.entry.size() > kLongestName)
            fail(entity + ".entry", "is not the name of a function");
        range(entity + ".arena_bytes", specialisation.arena_bytes, 0, kLargestBytes);
        for (const DimSymbol& symbol : manifest_.symbols) {
            const auto found = specialisation.bounds.find(symbol.name);
            if (found == specialisation.bounds.end())
                fail(entity + ".bounds", fmt::format("lacks the symbol `{}`", symbol.name));
            range(entity + ".bounds." + symbol.name + ".low", found->second.low, symbol.low, symbol.high);
            range(entity + ".bounds." + symbol.name + ".high", found->second.high, found->second.low,
                  symbol.high);
        }
        for (const auto& [name, bounds] : specialisation.bounds)
            if (symbol_index(manifest_, name) < 0)
                fail(entity + ".bounds", fmt::format("names `{}`, which is no symbol", name));
    }

    void text(const Manifest::Text& facts) const {
        range("text.vocabulary", facts.vocabulary, 1, INT32_MAX);
        range("text.context", facts.context, 1, INT32_MAX);
        range("text.page_size", facts.page_size, 1, 1 << 20);
        if (facts.bos) range("text.bos", *facts.bos, 0, facts.vocabulary - 1);
        for (const int32_t id : facts.eos) range("text.eos", id, 0, facts.vocabulary - 1);
    }

    const Manifest& manifest_;
    const std::string& where_;
};

}  // namespace

void verify(const Manifest& manifest, const std::string& where) {
    Verifier(manifest, where).run();
}

int symbol_index(const Manifest& manifest, std::string_view name) {
    const auto found = std::find_if(manifest.symbols.begin(), manifest.symbols.end(),
                                    [&](const DimSymbol& symbol) { return symbol.name == name; });
    return found == manifest.symbols.end() ? -1 : static_cast<int>(found - manifest.symbols.begin());
}

std::optional<int64_t> byte_size(const Manifest& manifest, ElementType element, std::span<const Dim> shape,
                                 std::span<const int64_t> symbols) {
    std::vector<int64_t> extents = {bits(element)};
    for (const Dim& dim : shape) {
        std::optional<int64_t> extent = dim.factor;
        if (dim.symbol) {
            const int index = symbol_index(manifest, *dim.symbol);
            TESSERA_CHECK(index >= 0, "symbol {}", *dim.symbol);
            extent = checked_mul(dim.factor, symbols[static_cast<size_t>(index)]);
        }
        if (!extent) return std::nullopt;
        extents.push_back(*extent);
    }
    const std::optional<int64_t> size = checked_product(std::span<const int64_t>(extents));
    if (!size) return std::nullopt;
    return *size / 8 + (*size % 8 != 0);
}

std::optional<int64_t> byte_size(const Manifest& manifest, const Manifest::State& state,
                                 std::span<const int64_t> symbols) {
    const std::optional<int64_t> one = byte_size(manifest, state.element, state.stored, symbols);
    return one ? checked_mul(*one, state.repeat) : std::nullopt;
}

}  // namespace tessera::runtime
