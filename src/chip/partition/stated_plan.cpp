#include "chip/partition/stated_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "support/near_names.h"
#include "support/shown.h"

namespace tessera::partition {
namespace {

std::vector<std::string> iterators_of(const facts::BoundDefinition& bound) {
    std::vector<std::string> names;
    for (const Iterator& iterator : bound.definition.iterators) names.push_back(iterator.name);
    return names;
}

size_t number_of(const JsonCursor& at, const std::string& name, const std::vector<std::string>& known,
                 std::string_view what) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found != known.end()) return static_cast<size_t>(found - known.begin());
    const std::vector<std::string> near = near_names(name, known);
    at.fail(fmt::format("names {}, which is no {} of the operator", shown(name), what),
            near.empty() ? "" : fmt::format("did you mean `{}`?", near.front()));
}

}  // namespace

nlohmann::ordered_json stated_plan_json(const PlannedOperator& op, const PlannedRow& row) {
    const ExecutePlan& plan = row.execute;
    nlohmann::ordered_json json = {{"cut", nlohmann::ordered_json::object()}};
    for (size_t i = 0; i < plan.sizes.size(); ++i)
        if (const int64_t parts = tile_count(op.extents[i], plan.sizes[i]); parts > 1)
            json["cut"][op.iterators[i]] = parts;
    if (plan.steps > 1) {
        json["steps"] = plan.steps;
        json["along"] = op.iterators[plan.along];
        for (size_t t = 0; t < op.tensors.size(); ++t)
            if (rotates_in(plan.rotating, t)) json["rotate"].push_back(op.tensors[t]);
    }
    if (row.preload.parts > 1) json["preload_parts"] = row.preload.parts;
    return json;
}

StatedPlan read_stated_plan(const JsonCursor& at, const facts::BoundDefinition& bound) {
    const std::vector<std::string> iterators = iterators_of(bound);
    StatedPlan plan{.sizes = bound.extents.iterators};
    if (const auto cut = at.find("cut"))
        for (const std::string& name : cut->keys()) {
            const size_t i = number_of(*cut, name, iterators, "iterator");
            const int64_t extent = bound.extents.iterators[i];
            const int64_t parts = cut->at(name).integer(1, extent, fmt::format("parts, 1 to {}", extent));
            plan.sizes[i] = tile_count(extent, parts);
            if (const int64_t made = tile_count(extent, plan.sizes[i]); made != parts)
                cut->at(name).fail(fmt::format("is {}, and {} iterations in parts of {} are {}", parts,
                                               extent, plan.sizes[i], made));
        }
    if (const auto parts = at.find("preload_parts")) plan.preload_parts = parts->integer(1, INT32_MAX);
    if (const auto steps = at.find("steps")) plan.steps = steps->integer(1, INT32_MAX);
    if (plan.steps == 1) return plan;
    plan.along = number_of(at.at("along"), at.at("along").string(), iterators, "iterator");
    std::vector<std::string> tensors;
    for (const TensorDecl& tensor : bound.definition.tensors) tensors.push_back(tensor.name);
    for (const JsonCursor& name : at.at("rotate").items()) {
        const size_t tensor = number_of(name, name.string(), tensors, "tensor");
        if (tensor >= 32 || bound.is_result(static_cast<int>(tensor)))
            name.fail(fmt::format("is {}, expected an operand", shown(name.string())));
        plan.rotating |= 1U << tensor;
    }
    if (plan.rotating == 0) at.at("rotate").fail("is [], expected operands: there are several steps");
    return plan;
}

}  // namespace tessera::partition
