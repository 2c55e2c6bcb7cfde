#include "lowering/tensor_layouts.h"

#include "lowering/plan/constants.h"
#include "lowering/storage.h"

namespace tessera::lowering {

std::vector<Layout> layouts_of(const Graph& graph, const plan::Plan& plan, const Node& node,
                               const plan::SpecialisationPlan& specialisation) {
    std::vector<Layout> layouts;
    for (int t = 0; t < static_cast<int>(node.definition()->tensors.size()); ++t) {
        const Value& value = graph[value_of(node, t)];
        const auto planned = specialisation.tensors.find(value.name);
        layouts.push_back(planned != specialisation.tensors.end() ? planned->second.layout
                                                                  : plan::stored_layout(plan, value.name));
    }
    return layouts;
}

}  // namespace tessera::lowering
