#include "lowering/plan/plan.h"

namespace tessera::plan {

std::vector<const KernelPlan*> kernels_in_order(const Graph& graph,
                                                const SpecialisationPlan& specialisation) {
    std::vector<const KernelPlan*> kernels;
    for (const Block& block : graph.blocks)
        for (const KernelPlan& kernel : specialisation.kernels)
            if (kernel.block == block.name) kernels.push_back(&kernel);
    return kernels;
}

}  // namespace tessera::plan
