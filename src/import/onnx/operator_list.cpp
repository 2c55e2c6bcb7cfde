#include "import/onnx/operator_list.h"

#include "import/onnx/operators/families.h"

namespace tessera::import::onnx {
namespace {

constexpr std::span<const Operator> (*kFamilies[])() = {
    activations, arithmetic,          attention,      comparisons, constants,  convolutions,
    gathers,     microsoft_attention, normalisations, padding,     pooling,    products,
    quantised,   recurrent,           reductions,     resizing,    selections, shapes};

}  // namespace

const Operator* find_operator(std::string_view domain, std::string_view name, int64_t opset) {
    const Operator* found = nullptr;
    for (const auto family : kFamilies)
        for (const Operator& each : family())
            if (each.name == name && each.domain == domain && each.since <= opset &&
                (!found || found->since < each.since))
                found = &each;
    return found;
}

}  // namespace tessera::import::onnx
