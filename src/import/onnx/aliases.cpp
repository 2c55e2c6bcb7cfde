#include "import/onnx/aliases.h"

#include <algorithm>

#include <fmt/format.h>

#include "import/onnx/graph_inputs.h"
#include "import/onnx/import_onnx.h"
#include "support/error.h"

namespace tessera::import::onnx {
namespace {

const ValueInfo& find(const std::vector<ValueInfo>& values, const std::string& name, const char* kind) {
    const auto found = std::ranges::find(values, name, &ValueInfo::name);
    if (found == values.end()) throw Error("", "", fmt::format("names `{}`, which is no {}", name, kind));
    if (!found->shape) throw Error("", "", fmt::format("names `{}`, which has no shape", name));
    return *found;
}

/// Bounds that leave an extent open.
const Extent* open_extent(const ImportOptions& options, const ValueInfo& value, size_t axis) {
    const Extent* extent = stated_extent(options, (*value.shape)[axis], value.name, axis);
    return extent && extent->low < extent->high ? extent : nullptr;
}

}  // namespace

Alias alias_of(const GraphText& graph, const ImportOptions& options, const std::string& output,
               const std::string& input) {
    const auto refuse = [](const std::string& problem) { throw Error("", "", problem); };
    const ValueInfo &after = find(graph.outputs, output, "output"),
                    &before = find(graph.inputs, input, "input");
    if (after.type != before.type)
        refuse(fmt::format("is of {}, and `{}` of {}", name(after.type), input, name(before.type)));
    if (after.shape->size() != before.shape->size())
        refuse(fmt::format("has {} axes, and `{}` {}", after.shape->size(), input, before.shape->size()));
    Alias alias{.input = input, .output = output};
    size_t grown = 0;
    for (size_t axis = 0; axis < before.shape->size(); ++axis) {
        const Extent *held = open_extent(options, before, axis), *total = open_extent(options, after, axis);
        const auto before_name = symbol_name((*before.shape)[axis], input, axis);
        const auto after_name = symbol_name((*after.shape)[axis], output, axis);
        if (!held || !total || before_name == after_name) continue;
        if (held->step != 1 || total->step != 1)
            refuse(fmt::format("has {} in steps, and rows are appended along it", *after_name));
        ++grown;
        alias.axis = axis;
        alias.held = *before_name;
        alias.total = *after_name;
        alias.rows = total->low - held->low;
        alias.most = total->high;
        if (alias.rows < 1 || alias.rows != total->high - held->high)
            refuse(fmt::format(
                "has {} from {} to {}, and {} of `{}` is from {} to {}, expected the same number of "
                "rows more at both ends",
                alias.total, total->low, total->high, alias.held, input, held->low, held->high));
    }
    if (grown != 1)
        refuse(fmt::format(
            "has {} axes along which both it and `{}` have extents of their own with bounds, expected "
            "one, such as --dim past=0..255 --dim total=1..256",
            grown, input));
    return alias;
}

}  // namespace tessera::import::onnx
