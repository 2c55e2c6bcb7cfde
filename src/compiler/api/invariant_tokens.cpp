#include "compiler/api/invariant_tokens.h"

#include <algorithm>
#include <limits>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/kernels/parameters.h"
#include "lowering/plan/plan.h"

namespace tessera {

int64_t invariant_tokens(const runtime::Artefact& artefact) {
    const plan::Plan plan = plan::parse_plan(artefact.plan(), artefact.where(), kernels::micro_kernels());
    int64_t most = std::numeric_limits<int64_t>::max();
    if (plan.specialisations.empty()) return most;
    for (const plan::KernelPlan& kernel : plan.specialisations.back().kernels)
        for (const plan::Leaf* leaf : plan::leaves(kernel.nest)) {
            if (leaf->kernel->name != "contract_blocks") continue;
            const int64_t rows =
                leaf->number(kernels::parameter::kPanelBlocks) * leaf->number(kernels::parameter::kRows);
            if (rows > 0) most = std::min(most, rows - 1);
        }
    return std::max<int64_t>(1, most);
}

}  // namespace tessera
