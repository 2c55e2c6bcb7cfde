#include "lowering/plan/constants.h"

#include "support/limits.h"

namespace tessera::plan {
namespace {

constexpr int64_t kLargeBytes = int64_t{1} << 20;

}  // namespace

const Layout& stored_layout(const Plan& plan, const std::string& value) {
    static const Layout row_major;
    const auto at = plan.stored.find(value);
    return at == plan.stored.end() ? row_major : at->second;
}

ConstantSection constant_section(const Graph& graph, const Plan& plan) {
    ConstantSection section;
    for (const Value& value : graph.values) {
        if (value.kind != ValueKind::kConstant) continue;
        StoredConstant stored;
        const std::vector<int64_t> shape = evaluate(value.type.shape, {});
        stored.bytes =
            (stored_elements(stored_layout(plan, value.name), shape) * bits(value.type.element) + 7) / 8;
        stored.repetitions = value.repetitions();
        stored.stride = stored.repetitions > 1 ? rounded_to_lines(stored.bytes) : 0;
        const int64_t all = rounded_to_lines(stored.bytes) * stored.repetitions;
        if (all >= kLargeBytes) section.bytes = rounded_to_pages(section.bytes);
        stored.offset = section.bytes;
        section.bytes += all;
        section.constants.emplace(value.name, stored);
    }
    return section;
}

}  // namespace tessera::plan
