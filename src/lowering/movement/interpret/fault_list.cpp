#include "lowering/movement/interpret/fault_list.h"

#include "support/error.h"

namespace tessera::movement {
namespace {

const char* word(RunFault::Kind kind) {
    switch (kind) {
        case RunFault::Kind::kRace:
            return "race in";
        case RunFault::Kind::kUnwritten:
            return "reads unwritten";
        case RunFault::Kind::kForeign:
            return "reads overwritten";
        case RunFault::Kind::kOutside:
            return "leaves";
        case RunFault::Kind::kBounds:
            return "excluded value of";
    }
    return "";
}

}  // namespace

void FaultList::add(RunFault::Kind kind, size_t kernel, const std::string& buffer, const std::string& problem,
                    int64_t element) {
    const Key key{kind, kernel, buffer, problem};
    auto at = faults_.find(key);
    if (at == faults_.end()) {
        if (faults_.size() == most_) return;
        at = faults_.emplace(key, std::set<int64_t>{}).first;
        order_.push_back(&at->first);
    }
    if (at->second.size() < kMostElements) at->second.insert(element);
}

std::vector<RunFault> FaultList::take() const {
    std::vector<RunFault> faults;
    for (const Key* key : order_) {
        const auto& [kind, kernel, buffer, problem] = *key;
        const std::set<int64_t>& elements = faults_.at(*key);
        faults.push_back({kind, kernels_[kernel], buffer, problem, {elements.begin(), elements.end()}});
    }
    return faults;
}

std::string print(const RunFault& fault) {
    const std::string more =
        fault.elements.size() > 1 ? fmt::format(" ({} elements)", fault.elements.size()) : "";
    return fmt::format("kernel {}: {} {}[{}]{}{}{}", fault.kernel, word(fault.kind), fault.buffer,
                       fault.elements.empty() ? 0 : fault.elements.front(), more,
                       fault.problem.empty() ? "" : ": ", fault.problem);
}

}  // namespace tessera::movement
