#include "run/llm/memory_need.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include "run/llm/step_interface.h"
#include "support/checked.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

int64_t sum_or_throw(const runtime::Manifest& manifest, int64_t a, int64_t b) {
    const auto sum = checked_add(a, b);
    if (!sum) throw Error(manifest.model, "", "needs more memory than there can be");
    return *sum;
}

/// All states at these pages and seats of the cache.
int64_t state_bytes(const runtime::Manifest& manifest, int64_t pages, int64_t seats) {
    std::vector<int64_t> symbols(manifest.symbols.size(), 0);
    for (const auto& [name, value] : {std::pair{"P", pages}, std::pair{"N", seats}})
        if (const int index = runtime::symbol_index(manifest, name); index >= 0)
            symbols[static_cast<size_t>(index)] = value;
    int64_t all = 0;
    for (const runtime::Manifest::State& state : manifest.states) {
        const auto bytes = runtime::byte_size(manifest, state, symbols);
        if (!bytes) throw Error(manifest.model, state.name, "is too large for any memory");
        all = sum_or_throw(manifest, all, *bytes);
    }
    return all;
}

int64_t step_bytes(const runtime::Manifest& manifest) {
    int64_t arena = 0;
    for (const runtime::Manifest::Specialisation& specialisation : manifest.specialisations)
        arena = std::max(arena, specialisation.arena_bytes);
    return arena;
}

}  // namespace

MemoryNeed memory_need(const runtime::Manifest& manifest, const SessionOptions& options) {
    const StepInterface interface(manifest);
    const std::map<std::string, int64_t> symbols = Session::state_symbols(manifest, options);
    MemoryNeed need;
    need.weights = manifest.constants_bytes;
    need.cache = state_bytes(manifest, symbols.at("P"), symbols.at("N"));
    need.seats = state_bytes(manifest, 0, symbols.at("N"));
    need.cache_per_token = state_bytes(manifest, 1, 0) / interface.page_size;
    need.step = step_bytes(manifest);
    need.context = options.context == 0 ? interface.context : options.context;
    need.sequences = options.sequences;
    (void)sum_or_throw(manifest, sum_or_throw(manifest, need.weights, need.cache), need.step);
    return need;
}

MemoryNeed memory_need(const runtime::Artefact& artefact, const SessionOptions& options) {
    MemoryNeed all = memory_need(artefact.manifest(), options);
    for (size_t rank = 1; rank < artefact.parts(); ++rank) {
        const runtime::Manifest& manifest = artefact.part(rank).manifest();
        const MemoryNeed need = memory_need(manifest, options);
        all.weights = sum_or_throw(manifest, all.weights, need.weights);
        all.cache = sum_or_throw(manifest, all.cache, need.cache);
        all.cache_per_token += need.cache_per_token;
        all.seats += need.seats;
        all.step = sum_or_throw(manifest, all.step, need.step);
    }
    all.weights = std::max<int64_t>(0, all.weights - artefact.shared_bytes());
    (void)sum_or_throw(artefact.manifest(), sum_or_throw(artefact.manifest(), all.weights, all.cache),
                       all.step);
    return all;
}

int64_t largest_context(const runtime::Manifest& manifest, const MemoryNeed& need, int64_t available) {
    const StepInterface interface(manifest);
    const int64_t left = available - need.weights - need.step - need.seats;
    if (left <= 0) return 0;
    if (need.cache_per_token == 0) return interface.context;
    const int64_t pages = left / (need.cache_per_token * interface.page_size) / need.sequences;
    return std::min(interface.context, pages * interface.page_size);
}

void check_fits(const runtime::Manifest& manifest, const MemoryNeed& need, int64_t available) {
    if (need.total() <= available) return;
    const int64_t largest = largest_context(manifest, need, available);
    throw Error(
        manifest.model, "",
        fmt::format("needs {} of memory ({} weights, {} cache for {} tokens, {} step buffers), but {} "
                    "are allowed to this process",
                    bytes_text(need.total()), bytes_text(need.weights), bytes_text(need.cache), need.context,
                    bytes_text(need.step), bytes_text(available)),
        largest > 0 ? fmt::format("--context {} fits", largest) : "no context fits");
}

std::string describe(const runtime::Manifest& manifest, const MemoryNeed& need, int64_t available) {
    const std::string sequences = need.sequences > 1 ? fmt::format(" x {} sequences", need.sequences) : "";
    return fmt::format(
        "weights {} mapped, cache {} per token x {}{}, step buffers {}; up to {} tokens fit into {}",
        bytes_text(need.weights), bytes_text(need.cache_per_token), need.context, sequences,
        bytes_text(need.step), largest_context(manifest, need, available), bytes_text(available));
}

std::string cache_type(const runtime::Manifest& manifest) {
    std::set<std::string_view> types;
    for (const runtime::Manifest::State& state : manifest.states) {
        const bool is_of_tokens = !state.shape.empty() && state.shape.front() == Dim("P");
        if (!is_of_tokens) continue;                           // a recurrence's
        if (state.element == ElementType::kI8) return "q8_0";  // the others are its scales
        types.insert(name(state.element));
    }
    return types.empty() ? "f32" : fmt::format("{}", fmt::join(types, ", "));
}

std::string bytes_text(int64_t bytes) {
    constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
    auto value = static_cast<double>(bytes);
    size_t unit = 0;
    // A value that would be shown as 1000 belongs to the next unit.
    for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
    if (unit == 0) return fmt::format("{} B", bytes);
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, kUnits[unit]);
}

}  // namespace tessera::llm
