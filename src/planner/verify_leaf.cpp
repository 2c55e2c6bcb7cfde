#include "planner/verify_leaf.h"

#include <algorithm>

#include "kernels/micro_kernel.h"
#include "support/error.h"

namespace tessera {

void verify_leaf(const Block& block, const Leaf& leaf, const std::string& where) {
    const auto fail = [&](const std::string& entity, const std::string& problem) {
        throw Error(where, entity, problem);
    };
    const Node* node = block.find(leaf.node);
    if (!node) fail(leaf.node, fmt::format("is no operator of block {}", block.name));
    const MicroKernel* kernel = find_micro_kernel(leaf.micro_kernel);
    if (!kernel) fail(leaf.node, fmt::format("{} is no micro-kernel", leaf.micro_kernel));
    if (const std::string why = kernel->why_not(*node->definition()); !why.empty()) {
        fail(leaf.node, fmt::format("micro-kernel {} does not implement it: {}", leaf.micro_kernel, why));
    }
    for (const auto& [name, value] : leaf.parameters) {
        const bool is_known = std::any_of(kernel->parameters.begin(), kernel->parameters.end(),
                                          [&, key = name](const Parameter& p) { return p.name == key; });
        if (!is_known)
            fail(leaf.node, fmt::format("{} is no parameter of micro-kernel {}", name, leaf.micro_kernel));
    }
    for (const Parameter& p : kernel->parameters) {
        if (p.is_required && !leaf.parameters.contains(std::string(p.name))) {
            fail(leaf.node, fmt::format("micro-kernel {} needs {}", leaf.micro_kernel, p.name));
        }
    }
}

}  // namespace tessera
