#pragma once

#include <map>
#include <vector>

#include "lowering/storage.h"

namespace tessera::planner {

/// Which values share storage, while one result after the other takes over that of an operand.
class Aliases {
public:
    /// As the specialisation of the input has it now.
    explicit Aliases(const lowering::LoweringInput& input);

    ValueId base(ValueId value) const { return bases_[static_cast<size_t>(value.index)]; }
    /// All values in the storage of this one. @pre it has storage of its own
    const std::vector<ValueId>& sharing(ValueId base) const {
        return sharing_[static_cast<size_t>(base.index)];
    }
    /// The result, and what lies in its storage, moves into that of the operand.
    /// @pre the result has storage of its own
    void take_over(ValueId result, ValueId operand);

private:
    std::vector<ValueId> bases_;                 ///< by value
    std::vector<std::vector<ValueId>> sharing_;  ///< by base
};

}  // namespace tessera::planner
