#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "search/tiles/normal_form.h"

namespace tessera::tiles {

/// ceil(v / number), or ceil(number / v).
struct ConstantTrip {
    bool is_above = true;  ///< the variable is a
    int64_t number = 1;
    auto operator<=>(const ConstantTrip&) const = default;
};

/// The factors of a term, without its coefficient.
struct Product {
    std::map<size_t, int> exponents;                    ///< of variables; not 0
    std::map<size_t, std::vector<ConstantTrip>> trips;  ///< of variables with constants
    std::vector<VariablePair> pairs;                    ///< trips of two variables
};

/// The factors of a product with one variable: the variable, its exponent, its trips with constants, sorted.
using FunctionKey = std::tuple<size_t, int, std::vector<ConstantTrip>>;

/// A product of powers and trips, without or with some of its trips joined.
struct Chain {
    double scale = 1;
    std::vector<FunctionKey> parts;  ///< sorted by variable
    std::vector<VariablePair> pairs;
    auto operator<=>(const Chain&) const = default;
};

/// The chain, and lower bounds of it in which ceil(a / b) ceil(b / c) became ceil(a / c).
std::vector<Chain> joined_chains(const Chain& chain);

/// Makes functions and factors, each kind once.
class FactorTable {
public:
    FactorTable(const Problem& problem, NormalForm& form, const Options& options)
        : problem_(problem),
          form_(form),
          cancel_chains_(options.cancel_chains),
          joins_trips_(options.join_trips) {}

    /// The factors of a product, sorted.
    std::vector<size_t> factors_of(const Product& product);
    size_t factor_of(const Table& table);

private:
    size_t factor(const std::vector<size_t>& variables, const Product& product);
    Relaxation relaxation(const Chain& chain, const std::vector<bool>& is_kept);
    bool is_in_range(const Relaxation& relaxation) const;
    size_t function(const FunctionKey& key);

    const Problem& problem_;
    NormalForm& form_;
    bool cancel_chains_;
    bool joins_trips_;
    size_t table_numbers_ = 0;
    std::map<FunctionKey, size_t> functions_;
    std::map<Chain, size_t> factors_;
};

}  // namespace tessera::tiles
