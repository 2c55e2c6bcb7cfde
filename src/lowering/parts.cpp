#include "lowering/parts.h"

#include "movement/identifier.h"
#include "plan/parts.h"

namespace tessera {

const Node* parted_operator(const Nest& nest, const Block& block) {
    const Nest* divided = divided_nest(nest);
    if (!divided) return nullptr;
    const Node* node = block.find(root(*divided).node);
    if (!node || !node->definition()) return nullptr;
    const Definition& definition = *node->definition();
    for (const LoopTile& loop : divided->loops) {
        const int x = definition.iterator(loop.iterator);
        if (loop.is_divided && x >= 0 && definition.iterators[static_cast<size_t>(x)].is_reduction)
            return node;
    }
    return nullptr;
}

bool combines_parts(const Leaf& leaf) {
    return leaf.kernel->combines_parts;
}

/// Parts lie like results that are placed in the arena, whatever becomes of the results themselves.
ProgramBuffer Storage::describe_parts(ValueId id) const {
    const Value& value = input_.graph[id];
    ProgramBuffer buffer{.name = identifier("parts_of_" + value.name),
                         .value = parts_of(value.name),
                         .element = ElementType::kF32,
                         .repetition_stride = {}};
    while (input_.graph.find(buffer.name)) buffer.name += "_";
    const TensorPlan& plan = plan_of_parts(id);
    const Index elements = stored_elements(plan.layout, extents(id));
    buffer.position = plan.offset.value_or(0);
    buffer.bytes = bytes_of(elements, bits(buffer.element), buffer.value);
    copy_for_workers(buffer);
    return buffer;
}

const TensorPlan& Storage::plan_of_parts(ValueId value) const {
    const auto at = input_.specialisation.tensors.find(parts_of(input_.graph[value].name));
    return at == input_.specialisation.tensors.end() ? given_ : at->second;
}

Address Storage::locate_part(ValueId value, const std::vector<Index>& coordinates,
                             const std::optional<Index>& worker) {
    ProgramBuffer buffer = describe_parts(value);
    Index offset = offset_of(plan_of_parts(value).layout, extents(value), coordinates);
    if (worker) {
        const int64_t stride = std::exchange(buffer.worker_stride, 0);
        offset = offset + *worker * Index(stride / static_cast<int64_t>(sizeof(float)));
    }
    buffer.is_written = !worker;
    buffers_.emplace(buffer.name, buffer);
    return {buffer.name, offset, buffer.element};
}

}  // namespace tessera
