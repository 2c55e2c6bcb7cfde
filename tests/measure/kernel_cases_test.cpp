// What is timed follows from what is declared.

#include "measure/kernel_cases.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "kernels/micro_kernel.h"
#include "machine/machine_text.h"

namespace tessera {
namespace {

class KernelCases : public ::testing::TestWithParam<const char*> {
protected:
    const Machine machine_ =
        read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/" + GetParam() + ".toml");
    const std::vector<KernelSubject> subjects_ = kernel_subjects(machine_);
    const std::vector<KernelCase> cases_ = kernel_cases(subjects_, machine_);
};

/// Except those that combine the parts which workers leave of a reduction: there are none without workers;
/// and those for a unit that the machine has not.
TEST_P(KernelCases, ReachEveryDeclaredMicroKernel) {
    std::set<std::string> reached;
    for (const KernelCase& each : cases_) reached.insert(each.micro_kernel);
    for (const MicroKernel& declared : micro_kernels()) {
        const bool has_unit =
            std::any_of(machine_.units.begin(), machine_.units.end(),
                        [&](const ComputeUnit& unit) { return unit.kind == declared.unit; });
        EXPECT_EQ(reached.contains(std::string(declared.name)), !declared.combines_parts && has_unit)
            << declared.name;
    }
}

TEST_P(KernelCases, ReachEverySubject) {
    std::set<size_t> reached;
    for (const KernelCase& each : cases_) reached.insert(each.subject);
    EXPECT_EQ(reached.size(), subjects_.size());
}

TEST_P(KernelCases, AreOfTheMachinesWidthAndDiffer) {
    std::set<std::string> entries;
    for (const KernelCase& each : cases_) {
        EXPECT_EQ(each.parameters.at("lanes"), vector_lanes(machine_));
        EXPECT_TRUE(entries.insert(each.program.specialisation).second);
    }
}

TEST_P(KernelCases, TakeHalfOfTheCoresOwnCacheAtMost) {
    const MemoryLevel& own = machine_.memory[1];
    for (const KernelCase& each : cases_)
        EXPECT_LE(each.constants_bytes, own.capacity_bytes / own.shared_by_cores / 2)
            << each.program.specialisation;
}

INSTANTIATE_TEST_SUITE_P(Machines, KernelCases,
                         ::testing::Values("avx512", "avx2", "generic-x86-64", "amx", "neon"),
                         [](const auto& test) {
                             std::string name = test.param;
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

}  // namespace
}  // namespace tessera
