#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ir/facts/bound_definition.h"
#include "nest/nests/axis_form.h"

namespace tessera::nests {

/// One half-open range for each axis of a tensor.
using Box = std::vector<facts::Range>;

/// Which part of one operand an operator reads: the bounding box of the elements that its accesses reach and
/// that are in range and made. An axis that is indirect in one access is whole.
class ReadBox {
public:
    /// Boxes that were counted, for each access: ranges of its iterators -> box of its direct axes.
    using Counted = std::vector<std::map<Box, std::optional<Box>>>;

    /// `made`: what the operand holds beside its identity; its shape if nobody makes it.
    ReadBox(const facts::BoundDefinition& bound, int tensor, Box made);

    /// Puts the box of what is read in these ranges, none of them empty, into `box`. False if no element is
    /// read. `counted` remembers, between calls for this operand.
    bool find(const facts::BoundDefinition& bound, const facts::IterationBox& ranges, Counted& counted,
              Box& box) const;

    /// Bit i: iterator i stands in an access.
    uint64_t iterators() const { return iterators_; }

private:
    struct AccessForm {
        std::vector<size_t> axes;          ///< that are direct
        std::vector<AxisForm> forms;       ///< of these axes
        std::vector<ExprPtr> coordinates;  ///< of these axes
        std::vector<int> iterators;        ///< of these coordinates
    };

    bool find_access(const facts::BoundDefinition& bound, const facts::IterationBox& ranges,
                     const AccessForm& access, Counted::value_type& counted, Box& box) const;
    std::optional<bool> find_by_intervals(const facts::IterationBox& ranges, const AccessForm& access,
                                          Box& box) const;

    Box made_;
    std::vector<bool> is_indirect_axis_;
    std::vector<AccessForm> accesses_;
    uint64_t iterators_ = 0;
};

}  // namespace tessera::nests
