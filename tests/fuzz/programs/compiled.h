#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/programs/lowered.h"
#include "run/runtime/shared_library.h"

namespace tessera::fuzz {

/// Code of several programs, in one translation unit: the compiler reads NTT once for all of them. With the
/// flags of the machine and of users' code.
class CompiledPrograms {
public:
    /// @throws Error where the compiler refuses the code
    CompiledPrograms(const std::vector<Lowered>& all, const Treatment& treatment);

    /// Calls one; its workers have their turns in a random order.
    std::string difference_when_called(size_t index, const Program& program, const Lowered& lowered,
                                       const Expected& expected) const;

private:
    std::vector<std::string> entries_;
    std::unique_ptr<runtime::SharedLibrary> library_;
};

}  // namespace tessera::fuzz
