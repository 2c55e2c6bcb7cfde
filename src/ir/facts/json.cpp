#include <cmath>

#include <nlohmann/json.hpp>

#include "ir/facts/depends.h"
#include "ir/facts/facts.h"
#include "ir/facts/linear.h"
#include "ir/facts/packs.h"
#include "ir/facts/sbp.h"
#include "ir/facts/tiles.h"
#include "ir/facts/touched.h"
#include "ir/facts/units.h"
#include "ir/facts/work.h"
#include "support/error.h"

namespace tessera::facts {
namespace {

using Json = nlohmann::ordered_json;

// An object with an entry for each tensor.
template <typename Entry>
Json for_tensors(const Definition& definition, Entry&& entry) {
    Json object = Json::object();
    for (size_t t = 0; t < definition.tensors.size(); ++t) object[definition.tensors[t].name] = entry(t);
    return object;
}

Json number(double value) {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json to_json(const Definition& definition, const facts::Signature& signature) {
    return for_tensors(definition, [&](size_t t) { return facts::text(signature[t]); });
}

Json to_json(const Definition& definition, const std::vector<facts::Footprint>& footprints) {
    return for_tensors(definition, [&](size_t t) {
        const facts::Footprint& fact = footprints[t];
        return Json{{"origin", fact.origin}, {"extent", fact.extent}, {"elements", fact.elements}};
    });
}

Json to_json(const Definition& definition, const facts::UnitAssignment& assignment,
             const std::vector<UnitOperand>& unit) {
    Json object = Json::object();
    for (size_t o = 0; o < unit.size(); ++o)
        object[unit[o].role] = definition.tensors[static_cast<size_t>(assignment.operands[o])].name;
    for (const auto& [axis, iterator] : assignment.axes)
        object[axis] = definition.iterators[static_cast<size_t>(iterator)].name;
    return object;
}

Json values_of(const DefinitionFile& file, const BoundExtents& extents, const std::string& where) {
    const Definition& definition = file.definition;
    const std::vector<TensorData> results =
        interpret(definition, extents, test_contents(file, extents, where), where);
    Json object = Json::object();
    for (size_t r = 0; r < results.size(); ++r) {
        const std::vector<double>& values = results[r].values;
        Json first = Json::array();
        double sum = 0;
        double sum_squares = 0;
        for (size_t i = 0; i < values.size(); ++i) {
            if (i < 8) first.push_back(number(values[i] + 0.0));  // no -0.0
            sum += values[i];
            sum_squares += values[i] * values[i];
        }
        object[definition.tensors[static_cast<size_t>(definition.results()[r])].name] =
            Json{{"first", first}, {"sum", number(sum)}, {"sum_squares", number(sum_squares)}};
    }
    return object;
}

}  // namespace

Json derive_facts(const DefinitionFile& file, const FactOptions& options, const std::string& where) {
    const facts::BoundDefinition bound = facts::bind_test(file, where);
    const Definition& definition = bound.definition;
    Json json;
    json["op"] = definition.name;
    json["types"] = for_tensors(definition, [&](size_t t) { return name(definition.tensors[t].type); });
    json["shapes"] = for_tensors(definition, [&](size_t t) { return bound.extents.shapes[t]; });
    const facts::Work work = facts::derive_work(bound);
    json["work"] = Json{{"points", work.points}, {"flops", work.flops}, {"special", work.special}};
    const std::vector<facts::Touched> touched = facts::derive_touched(bound);
    json["touched"] = for_tensors(definition, [&](size_t t) {
        return Json{{"elements", touched[t].elements}, {"bytes", touched[t].bytes}};
    });
    const std::vector<std::vector<int>> depends = facts::derive_depends(bound);
    json["depends"] = for_tensors(definition, [&](size_t t) {
        Json names = Json::array();
        for (const int i : depends[t]) names.push_back(definition.iterators[static_cast<size_t>(i)].name);
        return names;
    });
    const auto footprints = [&](const facts::IterationBox& tile) {
        return to_json(definition, facts::tile_footprints(bound, tile));
    };
    json["tiles"] = Json{{"interior", footprints(facts::interior_tile(bound, file.test.tile))},
                         {"last", footprints(facts::last_tile(bound, file.test.tile))}};
    json["sbp"] = Json::object();
    const auto sbp = facts::derive_sbp(bound);
    for (size_t i = 0; i < sbp.size(); ++i)
        if (sbp[i]) json["sbp"][definition.iterators[i].name] = to_json(definition, *sbp[i]);
    json["linear"] = Json::object();
    const auto linear = facts::derive_linear(bound);
    for (size_t t = 0; t < linear.size(); ++t)
        if (linear[t]) json["linear"][definition.tensors[t].name] = to_json(definition, *linear[t]);
    json["packs"] = Json::object();
    const auto packs = facts::derive_packs(bound, file.test.lanes);
    for (size_t i = 0; i < packs.size(); ++i) {
        if (!packs[i]) continue;
        json["packs"][definition.iterators[i].name] = for_tensors(
            definition, [&](size_t t) { return (*packs[i])[t] ? Json(*(*packs[i])[t]) : Json(nullptr); });
    }
    json["units"] = Json::array();
    for (const facts::UnitAssignment& assignment : facts::derive_units(bound, file.test.unit))
        json["units"].push_back(to_json(definition, assignment, file.test.unit));
    if (options.values) json["values"] = values_of(file, bound.extents, where);
    return json;
}

std::string facts_text(const Json& facts) {
    std::string text = "{\n";
    for (const auto& [key, value] : facts.items()) {
        text += fmt::format("{}  {}: ", text.size() > 2 ? ",\n" : "", Json(key).dump());
        if (!value.is_object() || value.empty() || !value.begin()->is_object()) {
            text += value.dump();
            continue;
        }
        std::string entries;
        for (const auto& [name, entry] : value.items())
            entries +=
                fmt::format("{}    {}: {}", entries.empty() ? "" : ",\n", Json(name).dump(), entry.dump());
        text += "{\n" + entries + "\n  }";
    }
    return text + "\n}\n";
}

}  // namespace tessera::facts
