#include "lowering/parts.h"

#include "lowering/plan/parts.h"

namespace tessera::lowering {

const Node* parted_operator(const plan::Nest& nest, const Block& block) {
    const plan::Nest* divided = plan::divided_nest(nest);
    if (!divided) return nullptr;
    const Node* node = block.find(divided->root().node);
    if (!node || !node->definition()) return nullptr;
    const Definition& definition = *node->definition();
    for (const plan::LoopTile& loop : divided->loops) {
        const int x = definition.iterator(loop.iterator);
        if (loop.is_divided() && x >= 0 && definition.iterators[static_cast<size_t>(x)].is_reduction)
            return node;
    }
    return nullptr;
}

bool combines_parts(const plan::Leaf& leaf) {
    return leaf.kernel->combines_parts;
}

/// Parts lie like results that are placed in the arena, whatever becomes of the results themselves.
movement::ProgramBuffer Storage::describe_parts(ValueId id) const {
    const Value& value = input_.graph[id];
    movement::ProgramBuffer buffer{.name = "parts_of_" + value.name,
                                   .value = plan::parts_of(value.name),
                                   .element = ElementType::kF32,
                                   .repetition_stride = {}};
    const plan::TensorPlan& plan = plan_of_parts(id);
    const movement::Index elements = stored_elements(plan.layout, extents(id));
    buffer.position = plan.offset.value_or(0);
    buffer.bytes = bytes_of(elements, bits(buffer.element), buffer.value);
    copy_for_workers(buffer);
    return buffer;
}

const plan::TensorPlan& Storage::plan_of_parts(ValueId value) const {
    const auto at = input_.specialisation.tensors.find(plan::parts_of(input_.graph[value].name));
    return at == input_.specialisation.tensors.end() ? given_ : at->second;
}

movement::Address Storage::locate_part(ValueId value, const std::vector<movement::Index>& coordinates,
                                       const std::optional<movement::Index>& worker) {
    movement::ProgramBuffer buffer = describe_parts(value);
    movement::Index offset = offset_of(plan_of_parts(value).layout, extents(value), coordinates);
    if (worker) {
        const int64_t stride = std::exchange(buffer.worker_stride, 0);
        offset = offset + *worker * movement::Index(stride / static_cast<int64_t>(sizeof(float)));
    }
    buffer.is_written = !worker;
    buffers_.emplace(buffer.name, buffer);
    return {buffer.name, offset, buffer.element};
}

}  // namespace tessera::lowering
