#include "ir/facts/bound_definition.h"

#include "ir/facts/evaluate.h"
#include "ir/interpreter.h"
#include "support/error.h"

namespace tessera::facts {
namespace {

void append_accesses(std::vector<Access>& found, const std::vector<ExprPtr>& roots, int tensor,
                     bool in_predicate) {
    for (Read& read : reads_in(roots))
        if (read.tensor == tensor) found.push_back({std::move(read.coordinates), in_predicate});
}

std::vector<double> filled(const BoundDefinition& bound, int tensor, const ExprPtr& fill) {
    int64_t count = 1;
    for (const int64_t extent : bound.shape(tensor)) count *= extent;
    const auto position = [&](const Expr& leaf) {
        if (!std::holds_alternative<FillPosition>(leaf.node))
            throw Error(bound.where, bound.tensor(tensor).name,
                        "its fill reads something other than i and dims");
        Column positions(static_cast<size_t>(count));
        for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(i);
        return positions;
    };
    return evaluate_column(fill, static_cast<size_t>(count), bound.extents.dims, position);
}

}  // namespace

BoundDefinition bind_unfilled(const Definition& definition, const std::vector<int64_t>& dims,
                              const std::string& where) {
    return {definition, bound_extents(definition, dims, where),
            std::vector<std::vector<double>>(definition.tensors.size()), where};
}

BoundDefinition bind_test(const DefinitionFile& file, const std::string& where) {
    const Definition& definition = file.definition;
    BoundDefinition bound{definition, bound_extents(file, where),
                          std::vector<std::vector<double>>(definition.tensors.size()), where};
    for (size_t t = 0; t < definition.tensors.size(); ++t) {
        const TensorDecl& tensor = definition.tensors[t];
        if (tensor.role != Role::kIndex) continue;
        const auto fill = file.test.fill.find(tensor.name);
        if (fill == file.test.fill.end())
            throw Error(where, tensor.name, "has no contents", "add a line 'fill' to the test part");
        bound.contents[t] = filled(bound, static_cast<int>(t), fill->second);
    }
    // With a predicate on an operand's elements, the test's contents decide which iterations are executed.
    if (definition.where) {
        std::vector<TensorData> data;
        for (const Read& read : reads_in({definition.where})) {
            const auto t = static_cast<size_t>(read.tensor);
            if (!bound.contents[t].empty()) continue;
            if (data.empty()) data = test_contents(file, bound.extents, where);
            bound.contents[t] = data[t].values;
        }
    }
    return bound;
}

BoundDefinition for_all_contents(BoundDefinition bound) {
    for (size_t t = 0; t < bound.contents.size(); ++t)
        if (bound.definition.tensors[t].role != Role::kIndex) bound.contents[t].clear();
    return bound;
}

std::vector<Access> accesses_of(const Definition& definition, int tensor) {
    const TensorDecl& decl = definition.tensors[static_cast<size_t>(tensor)];
    if (decl.role == Role::kOut || decl.role == Role::kUpdate) return {{decl.map, false}};
    std::vector<ExprPtr> roots = definition.body;
    if (definition.post) roots.push_back(definition.post);
    for (const int result : definition.results())
        for (const ExprPtr& component : definition.tensors[static_cast<size_t>(result)].map)
            roots.push_back(component);
    std::vector<Access> found;
    append_accesses(found, roots, tensor, false);
    if (definition.where) append_accesses(found, {definition.where}, tensor, true);
    return found;
}

IterationBox whole_box(const BoundDefinition& bound) {
    IterationBox box;
    for (const int64_t extent : bound.extents.iterators) box.push_back({0, extent});
    return box;
}

}  // namespace tessera::facts
