#include "lowering/kernels/candidates.h"

#include <algorithm>
#include <tuple>

namespace tessera::kernels {

int64_t largest_extent(const Definition& definition, int x, const plan::SpecialisationPlan& specialisation) {
    std::vector<int64_t> dims;
    for (const DimSymbol& dim : definition.dims) dims.push_back(specialisation.bounds.at(dim.name).high);
    return evaluate_constant(definition.iterators[static_cast<size_t>(x)].extent, dims);
}

int64_t CandidateScope::extent(int x) const {
    return largest_extent(definition(), x, specialisation);
}

const std::string& CandidateScope::name(int x) const {
    return definition().iterators[static_cast<size_t>(x)].name;
}

ElementType CandidateScope::type(const Read& read) const {
    return definition().tensors[static_cast<size_t>(read.tensor)].type;
}

std::vector<plan::Leaf> candidates(plan::MicroKernels kernels, const Node& node,
                                   const plan::SpecialisationPlan& specialisation,
                                   const KernelTarget& target) {
    std::vector<Candidate> offered;
    for (const plan::MicroKernel* kernel : kernels) {
        if (node.definition()->is_wide() && !kernel->is_plain) continue;
        if (kernel->combines_parts || !kernel->why_not(*node.definition()).empty()) continue;
        kernel->candidates({node, specialisation, target, *kernel}, offered);
    }
    std::stable_sort(offered.begin(), offered.end(), [](const Candidate& a, const Candidate& b) {
        return std::tuple(-a.lanes, a.turn, a.reading) < std::tuple(-b.lanes, b.turn, b.reading);
    });
    std::vector<plan::Leaf> distinct;
    for (Candidate& candidate : offered)
        if (std::find(distinct.begin(), distinct.end(), candidate.leaf) == distinct.end())
            distinct.push_back(std::move(candidate.leaf));
    return distinct;
}

}  // namespace tessera::kernels
