#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/definition.h"
#include "lowering/plan/micro_kernel.h"

namespace tessera::plan {

/// An operator of a nest, with the micro-kernel that computes it and what the plan says about its parameters.
///
///     Leaf("y", contract).set(kColumns, "n").set(kRows, 4)
///
/// Parameters that were never set have their defaults. Numbers may be out of range: `check_parameters` checks
/// them.
class Leaf {
public:
    Leaf(std::string operator_name, const MicroKernel& micro_kernel)
        : node(std::move(operator_name)), kernel(&micro_kernel) {}

    std::string node;           ///< name of the operator in the graph
    const MicroKernel* kernel;  ///< never null

    /// The default of `parameter` itself if the micro-kernel has no such parameter.
    int64_t number(const Parameter& parameter) const;
    /// The iterator's name; "" if it is not given.
    const std::string& iterator(const Parameter& parameter) const;
    /// True if it differs from the default.
    bool is_given(const Parameter& parameter) const;

    /// @pre the micro-kernel has the parameter
    Leaf& set(const Parameter& parameter, int64_t value);
    Leaf& set(const Parameter& parameter, std::string iterator);
    /// Sets the default; does nothing if the micro-kernel has no such parameter.
    Leaf& reset(const Parameter& parameter);

    bool operator==(const Leaf& other) const;

    using Value = std::variant<int64_t, std::string>;
    /// The parameters that the plan prints, sorted by name: all that differ from their defaults or are always
    /// stated.
    std::vector<std::pair<std::string_view, Value>> stated() const;
    /// The numbers among them, as the machine's table of micro-kernels lists them.
    std::map<std::string, int64_t> numbers() const;

private:
    Value& at(const Parameter& parameter);

    std::vector<Value> values_;  ///< in the order of the micro-kernel's parameters; empty: all defaults
};

std::string print(const Leaf& leaf);

/// The iterator of the definition that the leaf names; -1 if it is not given or there is none of this name.
int iterator_of(const Definition& definition, const Leaf& leaf, const Parameter& parameter);

/// The reductions over which one call of a product sums, `k` among them.
std::vector<int> sums_of_call(const Definition& definition, const Leaf& leaf);

struct BadParameter {
    std::string name, problem;
};
/// The first iterator that the operator does not have, or number that is out of range.
std::optional<BadParameter> bad_parameter(const Definition& definition, const Leaf& leaf);
/// @throws Error for it
void check_parameters(const Definition& definition, const Leaf& leaf);

}  // namespace tessera::plan
