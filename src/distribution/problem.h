#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "distribution/collectives.h"
#include "distribution/form.h"
#include "ir/facts/bound_definition.h"

/// A graph of operators that is to be distributed, and the devices.
namespace tessera::distribution {

/// An operator at other sizes, at which it runs so many times.
struct OperatorAt {
    facts::BoundDefinition bound;
    double times = 1;
};

struct Operator {
    facts::BoundDefinition bound;
    std::vector<int> values;  ///< for each tensor of the definition its value
    /// Sizes at which its time is counted and at which each of its choices must be true as well; empty: at
    /// `bound`, once.
    std::vector<OperatorAt> points = {};
    std::vector<bool> may_split = {};  ///< for each iterator; empty: all
    /// For each iterator the grains of which its parts may be, besides 1; empty: none.
    std::vector<std::vector<int64_t>> grains = {};
    /// True if the tensors may have these forms in a choice; empty: any forms (of `Sbp` entries).
    std::function<bool(const std::vector<Form>& forms)> allows = {};

    const std::string& name() const { return bound.definition.name; }
};

/// The value that all tensors of one name are.
struct Value {
    std::string name;
    std::vector<int64_t> shape;
    ElementType type = ElementType::kF32;
    int maker = -1;              ///< the operator of which it is a result; -1 for constants and inputs
    std::vector<int> readers;    ///< operators, ascending
    bool is_constant = false;    ///< its stored form is free
    std::optional<Form> given;   ///< of an input
    std::optional<Form> wanted;  ///< of a result
    /// Moves of a box: how often, and bits of the whole value each time. Empty: once, all of it.
    std::vector<std::pair<double, int64_t>> moves = {};
    std::optional<int64_t> held_bits = {};  ///< that count as memory; empty: all of it
    bool only_slices = false;               ///< the only boxes are B to S(a)

    int64_t bits() const;  ///< of the whole value
};

struct Problem {
    std::vector<Operator> operators;  ///< a value's maker stands above its readers
    std::vector<Value> values;        ///< in the order in which they first appear
    Placement placement;
    double flops_per_second = 1;    ///< of one device
    double bytes_per_second = 1;    ///< of one device
    std::optional<int64_t> memory;  ///< of one device (of one memory that devices share), in bytes; unlimited
                                    ///< if empty
    facts::Cut cut = facts::Cut::kEvenly;
    CollectiveModel collectives = CollectiveModel::kRings;

    /// Memory is counted in parts of a bit, so that shards are whole numbers of units.
    int64_t units_per_byte() const { return 8 * placement.domains(); }
    int64_t units(const Value& value, const Form& form) const;
    /// Memory of the form that a box makes. A slice of a constant without other boxes is read where it lies.
    int64_t box_units(const Value& value, const Form& to) const {
        return value.is_constant && value.only_slices ? 0 : units(value, to);
    }
    double bytes(int64_t units) const {
        return static_cast<double>(units) / static_cast<double>(units_per_byte());
    }
};

}  // namespace tessera::distribution
