#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/facts/bound_definition.h"
#include "ir/facts/share.h"

namespace tessera::facts {

/// The placement of a tensor on the devices of one level (paper 000, 3.1.3): parts of one axis, copies, or
/// partial results that a monoid folds into the whole.
struct Sbp {
    enum class Kind : uint8_t { kSplit, kBroadcast, kPartial };
    Kind kind = Kind::kBroadcast;
    int axis = -1;                  ///< of kSplit
    Monoid monoid = Monoid::kNone;  ///< of kPartial
    /// For kSplit: parts are of whole grains. More than 1 only where it changes the parts.
    int64_t grain = 1;
    auto operator<=>(const Sbp&) const = default;
};

/// "S(0)", "S(0:64)" with a grain of 64, "B", "P(sum)".
std::string text(const Sbp& sbp);

/// One entry for each tensor.
using Signature = std::vector<Sbp>;

/// For each iterator the signature that halving it gives, empty if none is true for every contents of the
/// operands (zoo notation, sbp).
std::vector<std::optional<Signature>> derive_sbp(const BoundDefinition& bound);

/// Signatures of one operator on the levels of a placement.
class Splits {
public:
    explicit Splits(const BoundDefinition& bound);

    /// The signature that holds if each of `count` devices executes one part of the iterator, in every one of
    /// these groups, each of which sees its share as the whole; empty if none is true for every contents of
    /// the operands. @param grain of the iterator's parts
    std::optional<Signature> split(std::span<const Share> groups, int iterator, int64_t count, Cut cut,
                                   int64_t grain = 1);

    /// The shares of the devices of these groups after such a split.
    static std::vector<Share> parts(std::span<const Share> groups, const Signature& signature, int iterator,
                                    int64_t count, int64_t grain = 1);

private:
    struct Axis {
        int axis = -1;
        int64_t grain = 1;
    };
    std::vector<Axis> axes_to_split(int tensor, std::span<const Share> groups, int iterator, int64_t count,
                                    Cut cut, int64_t grain) const;
    Axis split_axis(int tensor, std::span<const Share> groups, int iterator, int64_t count, Cut cut,
                    int64_t grain) const;
    bool post_commutes();

    BoundDefinition bound_;
    std::optional<bool> commutes_;
};

}  // namespace tessera::facts
