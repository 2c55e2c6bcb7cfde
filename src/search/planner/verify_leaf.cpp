#include "search/planner/verify_leaf.h"

#include "support/error.h"

namespace tessera::planner {

void verify_leaf(const Block& block, const plan::Leaf& leaf, const std::string& where) {
    const auto fail = [&](const std::string& entity, const std::string& problem) {
        throw Error(where, entity, problem);
    };
    const Node* node = block.find(leaf.node);
    if (!node) fail(leaf.node, fmt::format("is no operator of block {}", block.name));
    const plan::MicroKernel& kernel = *leaf.kernel;
    if (const std::string why = kernel.why_not(*node->definition()); !why.empty())
        fail(leaf.node, fmt::format("micro-kernel {} does not implement it: {}", kernel.name, why));
    for (const plan::Parameter& p : kernel.parameters) {
        if (p.is_required && !leaf.is_given(p))
            fail(leaf.node, fmt::format("micro-kernel {} needs {}", kernel.name, p.name));
    }
}

}  // namespace tessera::planner
