#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/schedule/solve_tiles.h"

namespace tessera::schedule {

/// The least cost of any structure that merges reach, each evaluated on its own: any kernel moves into any
/// other one that reads of it, if the kernels then still have an order.
class EveryStructure {
public:
    explicit EveryStructure(BlockContext& context)
        : context_(context), no_bounds_(context.leaves.size(), 0) {}

    double least() {
        std::vector<Structure> open = {unfused(context_)};
        double least = kInfinite;
        while (!open.empty()) {
            const Structure structure = std::move(open.back());
            open.pop_back();
            std::set<std::string> names;
            double sum = 0;
            for (const lowering::NumberedNest& kernel : structure) {
                names.insert(text(context_, kernel));
                sum += seconds_of(kernel);
            }
            std::string key;
            for (const std::string& name : names) key += name + ";";
            if (!seen_.insert(key).second) continue;
            least = std::min(least, sum);
            for (size_t from = 0; from < structure.size(); ++from)
                for (size_t into = 0; into < structure.size(); ++into)
                    if (from != into) merge(structure, from, into, open);
        }
        return least;
    }

private:
    static constexpr double kInfinite = std::numeric_limits<double>::infinity();

    double seconds_of(const lowering::NumberedNest& kernel) {
        const std::string name = text(context_, kernel);
        if (const auto known = seconds_.find(name); known != seconds_.end()) return known->second;
        int64_t work = 0;
        // With a proof, as kernels that a search chooses.
        const auto solved = solve_tiles(context_, kernel, {.nodes = 2000, .least = no_bounds_}, work);
        return seconds_[name] = solved ? solved->seconds : kInfinite;
    }

    void merge(const Structure& structure, size_t from, size_t into, std::vector<Structure>& open) {
        const Structure both = {structure[from], structure[into]};
        if (!has_order(structure, from, into)) return;
        for (const Merge& each : merges(context_, both)) {
            Structure next = applied(context_, both, each);
            for (size_t other = 0; other < structure.size(); ++other)
                if (other != from && other != into) next.push_back(structure[other]);
            open.push_back(std::move(next));
        }
    }

    /// Kernels are taken away that read of none that is left; those of a cycle stay.
    bool has_order(const Structure& structure, size_t from, size_t into) const {
        std::map<int, size_t> kernel_of;
        for (size_t at = 0; at < structure.size(); ++at)
            for (const int op : structure[at].operators()) kernel_of[op] = at == from ? into : at;
        std::set<size_t> left;
        for (size_t at = 0; at < structure.size(); ++at) left.insert(at);
        left.erase(from);
        const auto waits = [&](size_t kernel) {
            return std::ranges::any_of(kernel_of, [&](const auto& each) {
                const auto& [op, maker] = each;
                return maker != kernel && left.contains(maker) &&
                       std::ranges::any_of(context_.readers[static_cast<size_t>(op)],
                                           [&](int reader) { return kernel_of.at(reader) == kernel; });
            });
        };
        while (true) {
            const auto next = std::ranges::find_if(left, [&](size_t kernel) { return !waits(kernel); });
            if (next == left.end()) return left.empty();
            left.erase(next);
        }
    }

    BlockContext& context_;
    const std::vector<double> no_bounds_;
    std::map<std::string, double> seconds_;
    std::set<std::string> seen_;
};

inline double least_of(BlockContext& context) {
    return EveryStructure(context).least();
}

}  // namespace tessera::schedule
