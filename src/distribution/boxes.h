#pragma once

#include <optional>
#include <string_view>

#include "distribution/problem.h"

/// Boxes: what makes one form of a value from another (paper 000, 3.1.3), and what they cost.
namespace tessera::distribution {

struct Box {
    Form from;
    Form to;
    int level = 0;  ///< the entry that changes
    Collective collective = Collective::kSlice;
    double seconds = 0;
    std::string_view algorithm = {};  ///< of the move that takes most of the time; empty for slices
    bool operator==(const Box&) const = default;
};

/// The box that changes one entry of a form of the value, if there is one: both forms exist, and each group
/// can do it by itself, for which no inner level may cut an axis that this level cuts before or after.
/// Partial results of softmax_sum become whole from the outermost level inwards and in no other way: the
/// three need each other. @pre `from` exists
std::optional<Box> box(const Problem& problem, const Value& value, const Form& from, int level,
                       const Sbp& entry);

/// The form with every P(softmax_sum) replaced by B, which all three results must reach.
Form without_weights(Form form);
bool holds_weights(const Form& form);

}  // namespace tessera::distribution
