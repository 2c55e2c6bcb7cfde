#include "lowering/nest_checks.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::lowering {

void check_folds_once(const Node& node, int x) {
    const Definition& definition = *node.definition();
    for (const int t : definition.results()) {
        const TensorDecl& result = definition.tensors[static_cast<size_t>(t)];
        const std::vector<int> used = iterators_in(result.map);
        if (std::find(used.begin(), used.end(), x) != used.end()) continue;
        const std::string& name = definition.iterators[static_cast<size_t>(x)].name;
        throw Error(
            node.name, name,
            fmt::format("does not index {}, which a loop over it inside the reduction would fold again",
                        result.name),
            fmt::format("put the loop over {} outside of the reduction's, or leave it whole", name));
    }
}

void check_hidden(const plan::Nest& inner, const std::vector<const Node*>& kernel, const Storage& storage) {
    const std::vector<const plan::Leaf*> made = plan::leaves(inner);
    for (const plan::Leaf* leaf : made) {
        if (leaf == made.back()) continue;
        const Node& node = storage.block().node(leaf->node);
        const Node& inner_root = storage.block().node(made.back()->node);
        if (storage.base(node.results.front()) == storage.base(inner_root.results.front()))
            continue;  // replaced by it
        for (const Node* reader : kernel) {
            const bool is_inside = std::any_of(made.begin(), made.end(),
                                               [&](const plan::Leaf* l) { return l->node == reader->name; });
            const bool reads = std::any_of(reader->operands.begin(), reader->operands.end(), [&](ValueId o) {
                return std::any_of(node.results.begin(), node.results.end(),
                                   [&](ValueId result) { return storage.base(o) == storage.base(result); });
            });
            if (is_inside || !reads) continue;
            throw Error(node.name, reader->name,
                        "reads it outside of the inner nest that makes it tile by tile",
                        "move it to the nest of its reader");
        }
    }
}

}  // namespace tessera::lowering
