#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "lowering/movement/program.h"

namespace tessera::backend::cpp {

/// Function types for the factors of products that are computed from several operands, such as quants and
/// their scales. Factors that differ only in where their operands lie and how long their rows are share one
/// type, and with it all that NTT makes of a product with it: a model has few of them, however many products.
class FactorTypes {
public:
    /// An expression for an object that computes the factor; nothing if its addresses are not of a form in
    /// which only the starts of the operands and their steps along `outer` vary.
    std::optional<std::string> object(const movement::ComputedFactor& factor, int64_t lanes);
    /// All types that objects have been made of.
    const std::string& definitions() const { return definitions_; }

private:
    std::map<std::string, std::string> names_;  ///< by the contents of the type
    std::string definitions_;
};

}  // namespace tessera::backend::cpp
