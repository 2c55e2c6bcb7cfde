#include "search/layouts/components.h"

#include <algorithm>

#include "search/rules/vectorize/pack.h"

namespace tessera::layouts {

using egraph::ClassId;
using egraph::TermId;

std::map<ClassId, ClassId> values_of_classes(const egraph::EGraph& graph) {
    std::map<ClassId, ClassId> up;
    const auto find = [&](ClassId at) {
        while (up.at(at) != at) at = up.at(at);
        return at;
    };
    for (const ClassId e_class : graph.classes()) up.emplace(e_class, e_class);
    for (const ClassId e_class : graph.classes())
        for (const TermId node : graph.nodes(e_class)) {
            if (!rules::is_pack(graph.op(node))) continue;
            const ClassId a = find(e_class), b = find(graph.find(graph.term(node).children.front()));
            up[std::max(a, b)] = std::min(a, b);
        }
    std::map<ClassId, ClassId> value;
    for (const auto& [e_class, above] : up) value.emplace(e_class, find(above));
    return value;
}

}  // namespace tessera::layouts
