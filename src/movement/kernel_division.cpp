#include "movement/kernel_division.h"

#include <algorithm>

#include "support/error.h"

namespace tessera {

KernelDivision::KernelDivision(const KernelPlan& kernel, Storage& storage)
    : kernel_(kernel), storage_(storage) {
    const LoopTile* loop = divided_loop(kernel.nest);
    if (kernel.alone && loop) {
        throw Error(root(kernel.nest).node, loop->iterator,
                    "is divided between the workers, but worker 0 computes it alone",
                    "leave out @worker, or `alone = true`");
    }
}

void KernelDivision::check(const Node& node, const LoopTile& loop, bool is_reduction) const {
    if (&loop != divided_loop(kernel_.nest)) {
        throw Error(node.name, loop.iterator, "is divided between the workers inside of other loops",
                    "put the loop with @worker in front of all others");
    }
    if (is_reduction) {
        throw Error(node.name, loop.iterator, "is a reduction: workers that share it would write one result",
                    "divide an iterator of the result");
    }
}

void KernelDivision::begin_whole(const std::vector<const Node*>& nodes, const Ranges& ranges) {
    note(nodes, ranges, nullptr);
    if (kernel_.alone) only_the_first_worker();
}

void KernelDivision::begin_part(const std::vector<const Node*>& nodes, const Ranges& ranges,
                                const std::string& variable, bool is_lone) {
    variables_.insert(variable);
    const Division division{variable, divided_loop(kernel_.nest)->tile};
    note(nodes, ranges, &division);
    if (is_lone) only_the_first_worker();
}

void KernelDivision::note(const std::vector<const Node*>& nodes, const Ranges& ranges,
                          const Division* division) {
    const std::map<const Node*, Ranges> needed = required_ranges(nodes, ranges, storage_);
    accesses_ = worker_accesses(nodes, needed, division, storage_);
    for (const Node* node : nodes) {
        for (size_t x = 0; division && x < needed.at(node).size(); ++x) {
            if (is_divided(needed.at(node)[x], *division)) iterators_[node].push_back(x);
        }
    }
}

void KernelDivision::only_the_first_worker() {
    for (WorkerAccess& access : accesses_) {
        access.by_all = false;
        access.parts = {{-1, 0}};
    }
}

void KernelDivision::enter(const std::string& variable, const Index& begin) {
    if (is_within(begin)) variables_.insert(variable);
}

bool KernelDivision::is_within(const Index& begin) const {
    return std::any_of(variables_.begin(), variables_.end(),
                       [&](const std::string& variable) { return begin.uses(variable); });
}

void KernelDivision::check_stays_in_part(const Node& node, const Ranges& ranges) const {
    const auto divided = iterators_.find(&node);
    if (divided == iterators_.end()) return;
    for (const size_t x : divided->second) {
        // A producer that is read in two ways is computed whole.
        if (is_within(ranges[x].begin)) continue;
        throw Error(node.name, node.definition()->iterators[x].name,
                    "is divided between the workers, but loops further inside need all of it",
                    "divide another iterator, or take the operator into a kernel of its own");
    }
}

}  // namespace tessera
