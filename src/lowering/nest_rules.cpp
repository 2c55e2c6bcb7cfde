#include "lowering/nest_rules.h"

#include "lowering/storage.h"

namespace tessera::lowering {
namespace {

/// The result of the node's definition that is this value.
const TensorDecl& result_of(const Node& node, ValueId value) {
    const Definition& definition = *node.definition();
    for (const int t : definition.results())
        if (value_of(node, t) == value) return definition.tensors[static_cast<size_t>(t)];
    TESSERA_CHECK(false, "{} does not make value {}", node.name, value.index);
    return definition.tensors.front();
}

std::string iterator_name(const Node& node, int x) {
    return node.definition()->iterators[static_cast<size_t>(x)].name;
}

}  // namespace

bool is_read_behind_fold(const Definition& definition, int tensor) {
    return definition.post && std::ranges::any_of(reads_in({definition.post}),
                                                  [&](const Read& read) { return read.tensor == tensor; });
}

Refusal refusal(const BrokenRule& broken, const Graph& graph) {
    const Node& node = *broken.node;
    const std::string &name = node.name, &value = graph[broken.value].name;
    const auto iterator = [&] { return iterator_name(node, broken.iterator); };
    const std::string in_own_kernel = "place it as a tile, or take the operator into a kernel of its own";
    switch (broken.rule) {
        case NestRule::kHasOwnAxes:
            return {name, value, "takes over a view, so it cannot be computed by tiles",
                    "give it storage of its own, or take the operator into a kernel of its own"};
        case NestRule::kReadAtIterators:
            return {broken.reader->name, value,
                    fmt::format("axis {} is read at {}, which is not one tiled iterator inside of it",
                                broken.axis,
                                broken.around.empty()
                                    ? "an expression of " + iterator_name(*broken.reader, broken.iterator)
                                    : std::string(broken.around)),
                    "leave those iterators whole, or take the operators into kernels of their own"};
        case NestRule::kWrittenAtIterators:
            return {name, value, "is not written at one iterator an axis, so it cannot be computed by tiles",
                    "take the operator into a kernel of its own"};
        case NestRule::kWrittenWhole:
            return {name, value,
                    fmt::format("axis {} is longer than what is written, so it cannot be computed by tiles",
                                broken.axis),
                    "take the operator into a kernel of its own"};
        case NestRule::kNoEarlyEnd:
            return {name, value,
                    "is stored whole, but stands in a loop that a predicate of the nest's last operator "
                    "ends early",
                    "place it as a tile, or take the operator out of that loop"};
        case NestRule::kCoversIterator:
            return {
                name, value,
                fmt::format("is stored whole, but this kernel may compute a part of it along {}", iterator()),
                in_own_kernel};
        case NestRule::kOneAxisALoop:
            return {name, value,
                    fmt::format("is stored whole, but two of its axes follow the loop {}", broken.around),
                    in_own_kernel};
        case NestRule::kMadeOnce:
            return {name, value,
                    fmt::format("is made from what it replaces, but every trip of the loop {} makes it again",
                                broken.around),
                    "give it storage of its own, or take the operator out of that loop"};
        case NestRule::kFoldsOnce:
            return {name, iterator(),
                    fmt::format("does not index {}, which a loop over it inside the reduction would fold "
                                "again",
                                result_of(node, broken.value).name),
                    fmt::format("put the loop over {} outside of the reduction's, or leave it whole",
                                iterator())};
        case NestRule::kReadBehindFold:
            return {broken.reader->name, value,
                    "is read behind the loops over the reduction, inside of which it is made tile by tile",
                    "leave the reduction whole, or take the operator that makes it out of those loops"};
        case NestRule::kSeenInside:
            return {name, broken.reader->name,
                    "reads it outside of the inner nest that makes it tile by tile",
                    "move it to the nest of its reader"};
        case NestRule::kKeepsOrder:
            return {name, broken.iterator < 0 ? value : iterator(),
                    broken.node->definition()->is_wide()
                        ? fmt::format("is computed in {}, by a kernel of its own",
                                      tessera::name(broken.node->definition()->accumulator))
                        : "is of a recurrence, which is a kernel of its own, with loops over its parallel "
                          "iterators alone",
                    "take the operator into a kernel of its own"};
    }
    TESSERA_CHECK(false, "an unknown rule");
    return {};
}

}  // namespace tessera::lowering
