#include "search/schedule/structure.h"

#include <algorithm>
#include <map>
#include <set>

#include "lowering/numbered_nest.h"
#include "nest/nest_text.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;

bool holds(const NumberedNest& nest, int op) {
    const std::vector<int> all = nest.operators();
    return std::ranges::find(all, op) != all.end();
}

bool may_tile_reductions(const BlockContext& block, int op) {
    if (block.links.operators[static_cast<size_t>(op)].node->definition()->is_recurrence()) return false;
    return std::ranges::any_of(block.leaves[static_cast<size_t>(op)],
                               [&](int leaf) { return block.evaluator.leaf(leaf).kernel->tiles_reductions; });
}

/// All loops that may stand around an operator: over results first.
std::vector<NumberedNest::Loop> loops_around(const BlockContext& block, int op) {
    const lowering::BlockLinks::Operator& facts = block.links.operators[static_cast<size_t>(op)];
    std::vector<NumberedNest::Loop> loops, reductions;
    for (int x = 0; x < static_cast<int>(facts.largest.size()); ++x) {
        if (facts.largest[static_cast<size_t>(x)] <= 1) continue;
        if (!facts.is_reduction(x)) {
            loops.push_back({x, plan::kOpenTile});
        } else if (may_tile_reductions(block, op)) {
            reductions.push_back({x, plan::kOpenTile});
        }
    }
    loops.insert(loops.end(), reductions.begin(), reductions.end());
    return loops;
}

/// The first one of these operators that reads what others make; -1 if none does.
int first_reader(const BlockContext& block, const std::vector<int>& operators, const std::vector<int>& made) {
    for (const int op : operators)
        for (const int producer : made) {
            const std::vector<int>& readers = block.readers[static_cast<size_t>(producer)];
            if (std::ranges::find(readers, op) != readers.end()) return op;
        }
    return -1;
}

bool is_alone(const BlockContext& block, const std::vector<int>& kernel) {
    return std::ranges::any_of(kernel, [&](int op) { return block.is_alone[static_cast<size_t>(op)]; });
}

bool is_item(const std::variant<int, NumberedNest>& item, int op) {
    if (const auto* inner = std::get_if<NumberedNest>(&item)) return holds(*inner, op);
    return std::get<int>(item) == op;
}

/// Number of braces around an operator.
int depth_of(const NumberedNest& nest, int op) {
    for (const auto& item : nest.items) {
        const auto* inner = std::get_if<NumberedNest>(&item);
        if (is_item(item, op)) return inner ? 1 + depth_of(*inner, op) : 1;
    }
    return 0;
}

/// The most braces around an operator.
int braces_of(const NumberedNest& nest) {
    int most = 0;
    for (const auto& item : nest.items)
        if (const auto* inner = std::get_if<NumberedNest>(&item)) most = std::max(most, braces_of(*inner));
    return most + 1;
}

/// The same where a kernel moves into another one, in front of a reader that has `depth` braces around it.
int braces_of(const NumberedNest& source, const NumberedNest& into, int depth, int level) {
    // An operator moves without the braces of its kernel.
    const int moved = braces_of(source) - (source.items.size() == 1 ? 1 : 0) + level + 1;
    return std::max({moved, braces_of(into), level == depth ? depth + 1 : 0});
}

const NumberedNest& brace_of(const NumberedNest& nest, int op) {
    for (const auto& item : nest.items) {
        const auto* inner = std::get_if<NumberedNest>(&item);
        if (inner && holds(*inner, op)) return brace_of(*inner, op);
    }
    return nest;
}

void insert(const BlockContext& block, NumberedNest& nest, std::variant<int, NumberedNest> producer,
            int reader, int level) {
    const auto at = std::ranges::find_if(nest.items, [&](const auto& item) { return is_item(item, reader); });
    if (level == 0) {
        nest.items.insert(at, std::move(producer));
        return;
    }
    if (auto* inner = std::get_if<NumberedNest>(&*at)) {
        insert(block, *inner, std::move(producer), reader, level - 1);
        return;
    }
    NumberedNest inner{loops_around(block, reader), {}};
    inner.items.emplace_back(std::move(producer));
    inner.items.emplace_back(reader);
    *at = std::move(inner);
}

}  // namespace

NumberedNest lone_nest(const BlockContext& block, int op) {
    return {loops_around(block, op), {op}};
}

Structure unfused(const BlockContext& block) {
    std::map<int, NumberedNest> by_root;
    std::set<int> stated;
    for (const NumberedNest& kernel : block.stated) {
        for (const int op : kernel.operators()) stated.insert(op);
        by_root.emplace(kernel.root(), kernel);
    }
    for (int op = 0; op < static_cast<int>(block.links.operators.size()); ++op)
        if (!stated.contains(op)) by_root.emplace(op, lone_nest(block, op));
    Structure structure;
    for (auto& [root, kernel] : by_root) structure.push_back(std::move(kernel));
    return structure;
}

std::vector<bool> tiles_of(const BlockContext& block, const NumberedNest& kernel) {
    std::vector<bool> is_tile(block.links.operators.size());
    const std::vector<int> all = kernel.operators();
    for (const int op : all) {
        const auto at = static_cast<size_t>(op);
        is_tile[at] = op != all.back() && !block.is_whole[at] &&
                      std::ranges::all_of(block.readers[at], [&](int reader) {
                          return std::ranges::find(all, reader) != all.end();
                      });
    }
    return is_tile;
}

std::vector<Merge> merges(const BlockContext& block, const Structure& structure, const KernelLimits& limits) {
    std::vector<std::vector<int>> operators;
    std::vector<size_t> kernel_of(block.links.operators.size());
    for (size_t kernel = 0; kernel < structure.size(); ++kernel) {
        operators.push_back(structure[kernel].operators());
        for (const int op : operators.back()) kernel_of[static_cast<size_t>(op)] = kernel;
    }
    const int most_braces = block.space.has_inner_braces ? limits.braces : 1;
    std::vector<Merge> found;
    for (size_t source = 0; source < structure.size(); ++source) {
        const std::vector<int>& made = operators[source];
        if (is_alone(block, made) || block.is_last[static_cast<size_t>(made.back())]) continue;
        // Other kernels that read it must run later than the one it moves to: the first one.
        size_t into = structure.size();
        for (const int producer : made)
            for (const int reader : block.readers[static_cast<size_t>(producer)])
                if (const size_t kernel = kernel_of[static_cast<size_t>(reader)]; kernel > source)
                    into = std::min(into, kernel);
        if (into == structure.size() || is_alone(block, operators[into]) ||
            made.size() + operators[into].size() > limits.operators)
            continue;
        const int reader = first_reader(block, operators[into], made);
        const int depth = depth_of(structure[into], reader);
        const bool is_lone = brace_of(structure[into], reader).items.size() == 1;
        for (int level = 0; level < depth + (is_lone ? 0 : 1); ++level)
            if (braces_of(structure[source], structure[into], depth, level) <= most_braces)
                found.push_back({.kernel = source, .into = into, .level = level});
    }
    return found;
}

Structure applied(const BlockContext& block, const Structure& structure, const Merge& merge) {
    Structure next = structure;
    const NumberedNest& source = structure[merge.kernel];
    const int reader = first_reader(block, structure[merge.into].operators(), source.operators());
    std::variant<int, NumberedNest> item = source;
    if (source.items.size() == 1) item = source.items.front();
    insert(block, next[merge.into], std::move(item), reader, merge.level);
    next.erase(next.begin() + static_cast<ptrdiff_t>(merge.kernel));
    return next;
}

std::string text(const BlockContext& block, const NumberedNest& kernel) {
    return nest::print_braces(
        kernel,
        [&](const NumberedNest& nest, const NumberedNest::Loop& loop) {
            return lowering::iterator_name(block.links, nest, loop);
        },
        [&](int op) { return block.links.operators[static_cast<size_t>(op)].node->name; });
}

}  // namespace tessera::schedule
