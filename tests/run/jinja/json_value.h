#pragma once

#include <nlohmann/json.hpp>

#include "run/jinja/template.h"

namespace tessera::jinja {

/// A value of JSON, whose texts have this origin.
inline Value value_of(const nlohmann::ordered_json& json, Origin origin) {
    if (json.is_null()) return Value::none();
    if (json.is_boolean()) return Value::of(json.get<bool>());
    if (json.is_number_integer()) return Value::of(json.get<int64_t>());
    if (json.is_number()) return Value::of(json.get<double>());
    if (json.is_string()) return Value::of(Text(json.get<std::string>(), origin));
    if (json.is_array()) {
        std::vector<Value> items;
        for (const auto& each : json) items.push_back(value_of(each, origin));
        return Value::list(std::move(items));
    }
    std::vector<std::pair<Value, Value>> members;
    for (const auto& [key, value] : json.items())
        members.emplace_back(Value::of(Text(key, origin)), value_of(value, origin));
    return Value::dict(std::move(members));
}

inline Variables variables_of(const nlohmann::ordered_json& json, Origin origin) {
    Variables variables;
    for (const auto& [name, value] : json.items()) variables.emplace_back(name, value_of(value, origin));
    return variables;
}

}  // namespace tessera::jinja
