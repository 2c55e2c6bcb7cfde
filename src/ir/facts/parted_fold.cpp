#include "ir/facts/parted_fold.h"

namespace tessera::facts {

std::string why_not_parted(const Definition& definition) {
    if (definition.monoid == Monoid::kNone) return "it folds nothing";
    for (const int t : definition.results()) {
        const TensorDecl& result = definition.tensors[static_cast<size_t>(t)];
        if (result.role != Role::kOut) return "its result starts from what it holds";
        for (const int x : iterators_in(result.map)) {
            if (definition.iterators[static_cast<size_t>(x)].is_reduction)
                return "a reduction indexes its result";
        }
    }
    return {};
}

}  // namespace tessera::facts
