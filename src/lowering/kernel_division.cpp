#include "lowering/kernel_division.h"

#include <algorithm>

#include "ir/facts/parted_fold.h"
#include "lowering/parts.h"
#include "lowering/plan/parts.h"
#include "lowering/refusal.h"

namespace tessera::lowering {

KernelDivision::KernelDivision(const plan::KernelPlan& kernel, Storage& storage)
    : kernel_(kernel), storage_(storage), parted_(parted_operator(kernel.nest, storage.block())) {
    const plan::LoopTile* loop = plan::divided_loop(kernel.nest);
    if (kernel.alone && loop) {
        throw Refused(kernel.nest.root().node, loop->iterator,
                      "is divided between the workers, but worker 0 computes it alone",
                      "leave out @worker, or `alone = true`");
    }
    if (!parted_) return;
    if (const std::string& last = kernel.nest.root().node; last != parted_->name) {
        throw Refused(
            parted_->name, loop->iterator,
            fmt::format("is a reduction that the workers divide, so {} would read parts of its result", last),
            fmt::format("end the kernel with {0}, and begin a later one with {0}[combine]", parted_->name));
    }
    if (const std::string why = facts::why_not_parted(*parted_->definition()); !why.empty()) {
        throw Refused(parted_->name, loop->iterator, "cannot be divided between the workers: " + why,
                      "divide an iterator of the result");
    }
    for (const ValueId result : parted_->results) storage.set_parted(result);
}

std::string KernelDivision::kernel_name() const {
    const std::string& last = kernel_.nest.root().node;
    if (!parted_) return last;
    std::string name = "parts_of_" + last;
    while (storage_.block().find(name)) name += "_";
    return name;
}

void KernelDivision::check(const Node& root, const plan::LoopTile& loop, const Range& range) const {
    if (&loop != plan::divided_loop(kernel_.nest)) {
        throw Refused(root.name, loop.iterator, "is divided between the workers inside of what they divide",
                      "leave one @worker");
    }
    const bool is_first = !kernel_.nest.loops.empty() && &loop == &kernel_.nest.loops.front();
    if (!is_first && &root != parted_) {
        throw Refused(root.name, loop.iterator, "is divided between the workers inside of other loops",
                      "put the loop with @worker in front of all others");
    }
    if (!(range.begin == movement::Index(0))) {
        throw Refused(root.name, loop.iterator, "is divided between the workers inside of a loop over it",
                      "leave one loop over it");
    }
}

void KernelDivision::begin_whole(const std::vector<const Node*>& nodes, const Ranges& ranges) {
    note(nodes, ranges, nullptr, kernel_.alone);
}

void KernelDivision::begin_part(const std::vector<const Node*>& nodes, const Ranges& ranges,
                                const std::string& variable, bool is_lone) {
    variables_.insert(variable);
    const Division division{variable, plan::divided_loop(kernel_.nest)->tile};
    note(nodes, ranges, &division, is_lone);
}

void KernelDivision::note(const std::vector<const Node*>& nodes, const Ranges& ranges,
                          const Division* division, bool is_alone) {
    const std::map<const Node*, Ranges> needed = required_ranges(nodes, ranges, storage_);
    std::vector<movement::WorkerAccess> accesses = worker_accesses(nodes, needed, division, storage_);
    if (is_alone) {
        for (movement::WorkerAccess& access : accesses) {
            access.by_all = false;
            access.parts = {{movement::kFirstWorker, 0}};
        }
    }
    for (const Node* node : nodes) {
        std::erase_if(accesses_,
                      [&](const movement::WorkerAccess& access) { return access.node == node->name; });
        std::vector<movement::WorkerAccess> own;
        std::copy_if(accesses.begin(), accesses.end(), std::back_inserter(own),
                     [&](const movement::WorkerAccess& access) { return access.node == node->name; });
        add(*node, std::move(own));
        for (size_t x = 0; division && x < needed.at(node).size(); ++x) {
            if (is_divided(needed.at(node)[x], *division)) iterators_[node].push_back(x);
        }
    }
}

/// A fold writes the worker's copy. A combination reads all copies, and only those operands that the
/// post-expression reads.
void KernelDivision::add(const Node& node, std::vector<movement::WorkerAccess> accesses) {
    const auto add_parts = [&](bool is_write, const std::vector<movement::WorkerPart>& parts) {
        for (const ValueId result : node.results)
            accesses_.push_back(
                {plan::parts_of(storage_.input().graph[result].name), node.name, is_write, false, parts});
    };
    const std::vector<const plan::Leaf*> all = plan::leaves(kernel_.nest);
    const auto leaf =
        std::find_if(all.begin(), all.end(), [&](const plan::Leaf* l) { return l->node == node.name; });
    if (&node == parted_) {
        std::erase_if(accesses, [](const movement::WorkerAccess& access) { return access.is_write; });
        add_parts(true, {{movement::kCopyOfWorker, 1}});
    } else if (combines_parts(**leaf)) {
        const Definition& definition = *node.definition();
        std::vector<std::string> read;
        for (const Read& r : definition.post ? reads_in({definition.post}) : std::vector<Read>{})
            read.push_back(storage_.input().graph[storage_.base(value_of(node, r.tensor))].name);
        std::erase_if(accesses, [&](const movement::WorkerAccess& access) {
            return !access.is_write && std::find(read.begin(), read.end(), access.value) == read.end();
        });
        add_parts(false, {});
    }
    accesses_.insert(accesses_.end(), accesses.begin(), accesses.end());
}

void KernelDivision::enter(const std::string& variable, const movement::Index& begin) {
    if (is_within(begin)) variables_.insert(variable);
}

bool KernelDivision::is_within(const movement::Index& begin) const {
    return std::any_of(variables_.begin(), variables_.end(),
                       [&](const std::string& variable) { return begin.uses(variable); });
}

void KernelDivision::check_stays_in_part(const Node& node, const Ranges& ranges) const {
    const auto divided = iterators_.find(&node);
    if (divided == iterators_.end()) return;
    for (const size_t x : divided->second) {
        // A producer that is read in two ways is computed whole.
        if (is_within(ranges[x].begin)) continue;
        throw Refused(node.name, node.definition()->iterators[x].name,
                      "is divided between the workers, but loops further inside need all of it",
                      "divide another iterator, or take the operator into a kernel of its own");
    }
}

}  // namespace tessera::lowering
