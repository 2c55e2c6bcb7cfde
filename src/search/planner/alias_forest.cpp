#include "search/planner/alias_forest.h"

#include <map>
#include <string>

namespace tessera::planner {

AliasForest::AliasForest(const Graph& graph, const plan::SpecialisationPlan& plan)
    : places_(graph.values.size()) {
    std::map<std::string, int> ids;
    for (const Value& value : graph.values) ids.emplace(value.name, static_cast<int>(ids.size()));
    std::vector<std::vector<int>> below(places_.size());
    std::vector<int> roots;
    for (size_t i = 0; i < places_.size(); ++i) {
        const auto tensor = plan.tensors.find(graph.values[i].name);
        const bool is_alias = tensor != plan.tensors.end() && (tensor->second.place == plan::Place::kView ||
                                                               tensor->second.place == plan::Place::kInPlace);
        if (is_alias) places_[i].of = ids.at(tensor->second.of);
        (is_alias ? below[static_cast<size_t>(places_[i].of)] : roots).push_back(static_cast<int>(i));
    }
    int next = 0;
    for (const int root : roots) {
        std::vector<std::pair<int, size_t>> open = {
            {root, 0}};  // with the number of those below that are done
        while (!open.empty()) {
            auto& [value, done] = open.back();
            Place& place = places_[static_cast<size_t>(value)];
            const std::vector<int>& children = below[static_cast<size_t>(value)];
            if (done == 0) {
                place.root = root;
                place.first = next++;
            }
            if (done < children.size()) {
                open.emplace_back(children[done++], 0);
                continue;
            }
            place.end = next;
            open.pop_back();
        }
    }
}

std::optional<ValueId> AliasForest::base(ValueId value) const {
    return at(value).root < 0 ? std::nullopt : std::optional(ValueId{at(value).root});
}

bool AliasForest::comes_from(ValueId value, ValueId ancestor) const {
    return value == ancestor || (at(value).root >= 0 && at(ancestor).first <= at(value).first &&
                                 at(value).first < at(ancestor).end);
}

}  // namespace tessera::planner
