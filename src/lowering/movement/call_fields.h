#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "lowering/movement/call.h"
#include "lowering/movement/program.h"

/// The kind of a call from the list of its fields:
///
///     struct FillCall {
///         int64_t lanes = 1;
///         Address to;
///         static constexpr auto kFields = std::tuple{field("lanes", &FillCall::lanes),
///                                                    field("to", &FillCall::to)};
///         static const CallKind& kind();  // by make_call_kind
///     };
///
/// A field is a number, a flag, an element type, an index, an address, a factor, a struct with fields of its
/// own, or an optional or a list of these.
namespace tessera::movement {

template <class Fields, class Value>
struct CallField {
    const char* name;
    Value Fields::*member;
};

template <class Fields, class Value>
constexpr CallField<Fields, Value> field(const char* name, Value Fields::*member) {
    return {name, member};
}

namespace detail {

template <class T>
inline constexpr bool kHasFields = requires {
    T::kFields;
};
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <class Fields>
FieldRecord record_of(const Fields& fields);

template <class T>
FieldValue field_value(const T& value) {
    if constexpr (std::is_same_v<T, Factor>) {
        return std::visit([](const auto& factor) { return FieldValue{factor}; }, value);
    } else if constexpr (kHasFields<T>) {
        return {record_of(value)};
    } else if constexpr (kIsList<T>) {
        std::vector<FieldValue> list;
        for (const auto& element : value) list.push_back(field_value(element));
        return {std::move(list)};
    } else {
        return {value};
    }
}

template <class Fields>
FieldRecord record_of(const Fields& fields) {
    FieldRecord record;
    const auto add = [&](const auto& field) {
        const auto& value = fields.*field.member;
        if constexpr (kIsOptional<std::remove_cvref_t<decltype(value)>>) {
            if (value) record.push_back({field.name, field_value(*value)});
        } else {
            record.push_back({field.name, field_value(value)});
        }
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, Fields::kFields);
    return record;
}

[[noreturn]] void refuse_field(const std::string& where, const std::string& name, const std::string& problem);

template <class T>
T taken(const FieldValue& value, const std::string& where, const std::string& name);

template <class Fields>
Fields fields_of(const FieldRecord& record, const std::string& where) {
    Fields fields{};
    for (const NamedField& named : record) {
        bool is_known = false;
        const auto take = [&](const auto& field) {
            if (named.name != field.name) return;
            using Value = std::remove_reference_t<decltype(fields.*field.member)>;
            if constexpr (kIsOptional<Value>) {
                fields.*field.member = taken<typename Value::value_type>(named.value, where, named.name);
            } else {
                fields.*field.member = taken<Value>(named.value, where, named.name);
            }
            is_known = true;
        };
        std::apply([&](const auto&... field) { (take(field), ...); }, Fields::kFields);
        if (!is_known) refuse_field(where, named.name, "is no field of the call");
    }
    const auto check = [&](const auto& field) {  // there is no default for a function
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(fields.*field.member)>, ComputedFactor>) {
            if (!(fields.*field.member).value) refuse_field(where, field.name, "is missing");
        }
    };
    std::apply([&](const auto&... field) { (check(field), ...); }, Fields::kFields);
    return fields;
}

template <class T>
T taken(const FieldValue& value, const std::string& where, const std::string& name) {
    if constexpr (std::is_same_v<T, Factor>) {
        if (const auto* strided = std::get_if<StridedFactor>(&value.value)) return *strided;
        if (const auto* computed = std::get_if<ComputedFactor>(&value.value)) return *computed;
    } else if constexpr (kHasFields<T>) {
        if (const auto* record = std::get_if<FieldRecord>(&value.value)) return fields_of<T>(*record, where);
    } else if constexpr (kIsList<T>) {
        if (const auto* list = std::get_if<std::vector<FieldValue>>(&value.value)) {
            T result;
            for (const FieldValue& element : *list)
                result.push_back(taken<typename T::value_type>(element, where, name));
            return result;
        }
    } else {
        if (const T* plain = std::get_if<T>(&value.value)) return *plain;
        // A constant index and a number look the same.
        const auto* number = std::get_if<int64_t>(&value.value);
        if constexpr (std::is_same_v<T, Index>) {
            if (number) return Index(*number);
        }
    }
    refuse_field(where, name, "is of another form");
}

}  // namespace detail

template <class Fields, std::string (*Problem)(const Fields&), Body (*Meaning)(const Fields&)>
constexpr CallKind make_call_kind(const char* name) {
    return {name,
            [] { return detail::record_of(Fields{}); },
            [](const void* fields) { return detail::record_of(*static_cast<const Fields*>(fields)); },
            [](const FieldRecord& record, const std::string& where) -> std::shared_ptr<const void> {
                auto fields = std::make_shared<const Fields>(detail::fields_of<Fields>(record, where));
                if (const std::string problem = Problem(*fields); !problem.empty())
                    detail::refuse_field(where, "call", problem);
                return fields;
            },
            [](const void* fields) { return Problem(*static_cast<const Fields*>(fields)); },
            [](const void* fields) { return Meaning(*static_cast<const Fields*>(fields)); }};
}

}  // namespace tessera::movement
