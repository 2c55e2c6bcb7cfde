#pragma once

#include <string>

#include "support/error.h"

namespace tessera::lowering {

/// Why a kernel is not lowered. A search goes on with another kernel; for a plan that is given it is the
/// message to its author.
struct Refusal {
    std::string where;   ///< an operator; may be empty
    std::string entity;  ///< a value, iterator or parameter; may be empty
    std::string problem;
    std::string advice;
    /// It holds for the micro-kernel whatever the tile sizes, its register blocks and the other operators'
    /// micro-kernels are, as long as the same values are in tiles.
    bool is_of_all_tiles = false;

    /// In one line, as an Error says it.
    std::string text() const { return error().what(); }
    Error error() const { return {where, entity, problem, advice}; }
};

/// Leaves a leaf that has no calls, or an expression that has no address; `lowered_kernel` makes a Refusal of
/// it.
struct Refused : Error {
    using Error::Error;
    Refused(const Refusal& why)  // NOLINT: a refusal is what is thrown
        : Error(why.error()), is_of_all_tiles(why.is_of_all_tiles) {}
    bool is_of_all_tiles = false;
};

/// The same words as a value.
inline Refusal as_refusal(const Error& error) {
    return {error.where, error.entity, error.problem, error.advice};
}
inline Refusal as_refusal(const Refused& refused) {
    return {refused.where, refused.entity, refused.problem, refused.advice, refused.is_of_all_tiles};
}

}  // namespace tessera::lowering
