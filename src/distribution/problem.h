#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distribution/form.h"
#include "facts/bound_definition.h"

/// A graph of operators that is to be distributed, and the devices.
namespace tessera::distribution {

struct Operator {
    facts::BoundDefinition bound;
    std::vector<int> values;  ///< for each tensor of the definition its value

    const std::string& name() const { return bound.definition.name; }
};

/// What all tensors of one name are.
struct Value {
    std::string name;
    std::vector<int64_t> shape;
    ElementType type = ElementType::kF32;
    int maker = -1;              ///< the operator of which it is a result; -1 for constants and inputs
    std::vector<int> readers;    ///< operators, ascending
    bool is_constant = false;    ///< its stored form is free
    std::optional<Form> given;   ///< of an input
    std::optional<Form> wanted;  ///< of a result

    int64_t bits() const;  ///< of the whole value
};

struct Problem {
    std::vector<Operator> operators;  ///< a value's maker stands above its readers
    std::vector<Value> values;        ///< in the order in which they first appear
    Placement placement;
    double flops_per_second = 1;    ///< of one device
    double bytes_per_second = 1;    ///< of one device
    std::optional<int64_t> memory;  ///< of one device, in bytes; unlimited if empty

    /// Memory is counted in parts of a bit, so that shards are whole numbers of units.
    int64_t units_per_byte() const { return 8 * placement.devices(); }
    int64_t units(const Value& value, const Form& form) const {
        return value.bits() * (placement.devices() / parts(form, placement));
    }
    double bytes(int64_t units) const {
        return static_cast<double>(units) / static_cast<double>(units_per_byte());
    }
};

}  // namespace tessera::distribution
