#include "cost/kernel_times.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <tuple>

#include "ir/ops/weight_format.h"
#include "lowering/kernels/parameters.h"

namespace tessera::cost {
namespace {

int64_t at(const std::map<std::string, int64_t>& values, const char* name, int64_t otherwise) {
    const auto found = values.find(name);
    return found == values.end() ? otherwise : found->second;
}

using Numbers = std::map<std::string, int64_t>;

bool has(const Numbers& parameters, const plan::Parameter& parameter) {
    return parameters.contains(std::string(parameter.name));
}
int64_t at(const Numbers& parameters, const plan::Parameter& parameter) {
    const auto found = parameters.find(std::string(parameter.name));
    return found == parameters.end() ? parameter.default_number() : found->second;
}

double rounded_up(int64_t value, int64_t step) {
    const int64_t steps = (value + step - 1) / step;
    return static_cast<double>(steps * step);
}

std::string upper_case(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

double distance(int64_t a, int64_t b) {
    return std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
}

/// As a share of a time: measurements do not show smaller differences.
constexpr double kLeastStall = 0.005;

/// Seconds of a block for each n and k: by its rows, by k.
using BlockSeconds = std::map<int64_t, std::map<int64_t, double>>;

/// The seconds of one of the largest blocks, if the rows of a call that takes `seconds` are cut so: those
/// that the other blocks leave; nothing if a time of these is unknown.
std::optional<double> of_largest_block(const std::map<int64_t, int64_t>& cut, const BlockSeconds& known,
                                       int64_t k, double seconds) {
    const auto largest = std::prev(cut.end());
    for (auto other = cut.begin(); other != largest; ++other) {
        const auto of_rows = known.find(other->first);
        if (of_rows == known.end() || !of_rows->second.contains(k)) return std::nullopt;
        seconds -= static_cast<double>(other->second) * of_rows->second.at(k);
    }
    return seconds > 0 ? std::optional(seconds / static_cast<double>(largest->second)) : std::nullopt;
}

}  // namespace

double bits_of_type(const std::string& name) {
    if (const auto format = ops::weight_format_of(upper_case(name))) {
        double sum = 0;
        for (const ops::WeightOperand& operand : ops::info(*format).operands)
            sum += static_cast<double>(bits(operand.type)) / static_cast<double>(operand.block);
        return sum;
    }
    const auto type = element_type_of(name);
    return type ? static_cast<double>(bits(*type)) : 32;
}

KernelTimes::Entry KernelTimes::described(const std::string& micro_kernel,
                                          const std::map<std::string, std::string>& types,
                                          const std::map<std::string, int64_t>& parameters) {
    Entry entry{.micro_kernel = micro_kernel, .types = types, .mode = parameters};
    entry.lanes = at(parameters, kernels::parameter::kLanes);
    entry.blocks = {at(parameters, kernels::parameter::kRows),
                    at(parameters, kernels::parameter::kRowsOfTile)};
    entry.depth = std::max<int64_t>(1, at(parameters, kernels::parameter::kDepthOfTile));
    entry.width = at(parameters, has(parameters, kernels::parameter::kGroups)
                                     ? kernels::parameter::kGroups
                                     : kernels::parameter::kColumnsInRegisters);
    for (const plan::Parameter& counted :
         {kernels::parameter::kLanes, kernels::parameter::kRows, kernels::parameter::kGroups,
          kernels::parameter::kColumnsInRegisters})
        entry.mode.erase(std::string(counted.name));
    if (const auto b = types.find("B"); b != types.end()) entry.bits_of_b = bits_of_type(b->second);
    return entry;
}

KernelTimes::KernelTimes(const machine::Machine& machine) {
    const std::string& near = machine.memory[machine::near_level(machine)].name;
    const std::string& far = machine.memory.back().name;
    for (const machine::MicroKernelTime& time : machine.micro_kernels) {
        if (time.level != near || !time.types.contains("B")) continue;
        Entry entry = described(time.name, time.types, time.parameters);
        entry.m = at(time.sizes, "m", 1);
        entry.n = at(time.sizes, "n", at(time.sizes, "d", 1));
        entry.k = at(time.sizes, "k", at(time.sizes, "s", 1));
        entry.cut = entry.blocks.cut(entry.m);
        entry.near_seconds = time.seconds;
        for (const machine::MicroKernelTime& other : machine.micro_kernels) {
            if (other.level == far && other.name == time.name && other.types == time.types &&
                other.parameters == time.parameters && other.sizes == time.sizes)
                entry.far_seconds = other.seconds;
        }
        entries_.push_back(std::move(entry));
    }
}

std::vector<const KernelTimes::Entry*> KernelTimes::comparable(const Entry& wanted) const {
    const auto type = [](const Entry& entry, const char* operand) {
        const auto found = entry.types.find(operand);
        return found == entry.types.end() ? std::string_view() : std::string_view(found->second);
    };
    const auto unlike = [&](const Entry& entry) {
        return std::tuple(type(entry, "A") != type(wanted, "A"), type(entry, "B") != type(wanted, "B"),
                          std::abs(std::log(entry.bits_of_b / wanted.bits_of_b)), entry.mode != wanted.mode,
                          distance(entry.lanes, wanted.lanes));
    };
    std::vector<const Entry*> found;
    std::optional<decltype(unlike(wanted))> least;
    for (const Entry& entry : entries_) {
        if (entry.micro_kernel != wanted.micro_kernel) continue;
        const auto here = unlike(entry);
        if (least && here > *least) continue;
        if (least && here < *least) found.clear();
        least = here;
        found.push_back(&entry);
    }
    return found;
}

KernelTimes::OfCalls KernelTimes::of_calls(const ProductCall& like) const {
    return {*this, like};
}

std::optional<ProductTime> KernelTimes::of(const ProductCall& call) const {
    return of_calls(call)(call.m, call.n, call.k);
}

// Lanes along k: a block of fewer columns is listed nowhere, and saves less than it lacks.
KernelTimes::OfCalls::OfCalls(const KernelTimes& times, const ProductCall& like)
    : times_(times),
      wanted_(described(like.micro_kernel, like.types, like.parameters)),
      step_(has(like.parameters, kernels::parameter::kColumnsInRegisters) ? wanted_.width : wanted_.lanes) {}

KernelTimes::OfCalls::ForRows KernelTimes::OfCalls::for_rows(int64_t m) const {
    Entry wanted = wanted_;
    // With too few blocks of rows for panels B is read directly, and fetched ahead.
    const int64_t panel_blocks = at(wanted.mode, kernels::parameter::kPanelBlocks);
    const bool is_by_panels = panel_blocks > 0 && m >= panel_blocks * wanted.blocks.rows;
    wanted.mode.erase(
        std::string((is_by_panels ? kernels::parameter::kPrefetch : kernels::parameter::kPanelBlocks).name));
    const std::vector<const Entry*> entries = times_.comparable(wanted);
    ForRows found;
    if (entries.empty()) return found;
    found.lanes = entries.front()->lanes;
    // For each number of rows, only the entries with the nearest number of groups count.
    std::map<int64_t, double> nearest;
    for (const Entry* entry : entries) {
        const double d = distance(entry->width, wanted.width);
        const auto [known, is_new] = nearest.emplace(entry->blocks.rows, d);
        if (!is_new) known->second = std::min(known->second, d);
    }
    const auto is_nearest = [&](const Entry& entry) {
        return distance(entry.width, wanted.width) == nearest.at(entry.blocks.rows);
    };
    std::vector<const Entry*> of_stalls;
    std::map<size_t, std::vector<const Entry*>> by_sizes_of_blocks;
    for (const Entry* entry : entries) {
        if (!is_nearest(*entry)) continue;
        if (entry->far_seconds) of_stalls.push_back(entry);
        if (entry->blocks.tells_of_largest(entry->m)) by_sizes_of_blocks[entry->cut.size()].push_back(entry);
    }
    // Among calls of as many rows, the one with the most similar blocks counts: lower blocks read B more
    // often.
    std::stable_sort(of_stalls.begin(), of_stalls.end(), [&](const Entry* a, const Entry* b) {
        return distance(a->blocks.rows, wanted.blocks.rows) < distance(b->blocks.rows, wanted.blocks.rows);
    });
    for (const Entry* entry : of_stalls) {
        const double bytes = static_cast<double>(entry->n * entry->k) * entry->bits_of_b / 8;
        const double stall = *entry->far_seconds - entry->near_seconds;
        found.stalls[entry->m].emplace(entry->k, std::max(stall, kLeastStall * *entry->far_seconds) / bytes);
    }
    // Calls of one size of blocks come first, since the others build on them. Work done once for all rows,
    // such as filling a panel, counts in the time of a block, so calls of about as many rows come first.
    for (auto& [sizes, of_sizes] : by_sizes_of_blocks) {
        std::stable_sort(of_sizes.begin(), of_sizes.end(), [&](const Entry* a, const Entry* b) {
            return distance(a->m, m) < distance(b->m, m);
        });
        for (const Entry* entry : of_sizes) {
            const double each = entry->near_seconds / static_cast<double>(entry->n * entry->k);
            if (const auto seconds = of_largest_block(entry->cut, found.blocks, entry->k, each))
                found.blocks[entry->cut.rbegin()->first].emplace(entry->k, *seconds);
        }
    }
    return found;
}

std::optional<ProductTime> KernelTimes::OfCalls::operator()(int64_t m, int64_t n, int64_t k) {
    auto known = known_.find(m);
    if (known == known_.end()) known = known_.emplace(m, for_rows(m)).first;
    const ForRows& here = known->second;
    if (here.blocks.empty()) return std::nullopt;
    ProductTime time{.least_k = std::numeric_limits<int64_t>::max()};
    std::map<int64_t, double> block_seconds;
    for (const auto& [rows, by_k] : here.blocks) {
        block_seconds[rows] = interpolate(by_k, k);
        time.least_k = std::min(time.least_k, by_k.begin()->first);
    }
    const double lanes = static_cast<double>(here.lanes) / static_cast<double>(wanted_.lanes);
    const double columns = rounded_up(n, step_), depth = rounded_up(k, wanted_.depth);
    for (const auto& [rows, count] : wanted_.blocks.cut(m))
        time.near_seconds += static_cast<double>(count) * wanted_.blocks.seconds(block_seconds, rows);
    time.near_seconds *= columns * depth * lanes;
    std::map<int64_t, double> stall_per_byte;
    for (const auto& [rows, by_k] : here.stalls) stall_per_byte[rows] = interpolate(by_k, k);
    if (!stall_per_byte.empty()) time.stall_per_byte = interpolate(stall_per_byte, m);
    return time;
}

}  // namespace tessera::cost
