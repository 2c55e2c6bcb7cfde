#include "nest/nests/level_buffers.h"

#include <fmt/format.h>

#include "nest/nests/placements.h"

namespace tessera::nests {

LevelBuffers::LevelBuffers(const Kernel& kernel, const LevelMachine& machine, const Nest& nest,
                           Influence& influence)
    : kernel_(kernel),
      machine_(machine),
      nest_(nest),
      influence_(influence),
      home_(kernel.tensors.size()),
      on_the_way_(kernel.tensors.size()) {
    add_reads();
    add_results();
}

LevelBuffer* LevelBuffers::filled_at(int op, size_t operand) {
    const std::optional<size_t> at = filled_at_[static_cast<size_t>(op)][operand];
    return at ? &all_[*at] : nullptr;
}

LevelBuffer* LevelBuffers::home(int tensor) {
    const std::optional<size_t> at = home_[static_cast<size_t>(tensor)];
    return at ? &all_[*at] : nullptr;
}

void LevelBuffers::add_reads() {
    const int inner = machine_.inner();
    for (const Move& move : nest_.moves) {
        if (move.kind != MoveKind::kLoad) continue;

        loaded_[{move.tensor, move.level}] = add({.name = {},
                                                  .tensor = move.tensor,
                                                  .level = move.level,
                                                  .role = BufferRole::kRead,
                                                  .other = source_of(nest_, move.tensor, move.level),
                                                  .depth = move.depth},
                                                 influence_.on_load(move.tensor, move.depth));
    }
    for (size_t op = 0; op < kernel_.operators.size(); ++op) {
        const Operator& reader = kernel_.operators[op];
        const int number = static_cast<int>(op);
        const size_t depth = nest_.around[op].size();
        filled_at_.emplace_back(reader.operands.size());
        for (size_t i = 0; i < reader.operands.size(); ++i) {
            const int tensor = reader.operands[i].tensor;
            if (nest_.find(MoveKind::kLoad, tensor, inner) ||
                nest_.home[static_cast<size_t>(tensor)] == inner)
                continue;
            filled_at_[op][i] =
                add({.name = " for " + reader.name(),
                     .tensor = tensor,
                     .level = inner,
                     .role = BufferRole::kRead,
                     .other = source_of(nest_, tensor, inner),
                     .depth = depth},
                    influence_.on_read(number, tensor, depth) | influence_.on_frame(number, depth));
        }
    }
}

void LevelBuffers::add_results() {
    for (size_t op = 0; op < kernel_.operators.size(); ++op) {
        const Operator& maker = kernel_.operators[op];
        const int number = static_cast<int>(op);
        const size_t around = nest_.around[op].size();
        for (const Result& result : maker.results) {
            const auto t = static_cast<size_t>(result.tensor);
            const auto loops_of = [&](size_t depth, bool is_frame) {
                uint64_t loops = influence_.on_frame(number, depth);
                for (const ResultAxis& axis : result.axes)
                    loops |= is_frame ? influence_.on_frame(number, axis.iterator, depth)
                                      : influence_.on_range(number, axis.iterator, depth);
                return loops;
            };
            int outer = nest_.home[t];
            if (outer > 0)
                home_[t] = add({.name = {},
                                .tensor = result.tensor,
                                .level = outer,
                                .role = BufferRole::kKept,
                                .depth = around},
                               loops_of(around, true));
            for (const int level : levels_on_the_way_home(nest_, result.tensor, machine_.inner())) {
                const Move* store = nest_.find(MoveKind::kStore, result.tensor, level);
                const size_t depth = store ? store->depth : around;
                on_the_way_[t].push_back(add({.name = " by " + maker.name(),
                                              .tensor = result.tensor,
                                              .level = level,
                                              .role = BufferRole::kWritten,
                                              .other = outer,
                                              .depth = depth},
                                             loops_of(depth, false)));
                outer = level;
            }
        }
    }
}

/// `buffer.name`: what follows tensor and level.
size_t LevelBuffers::add(LevelBuffer buffer, uint64_t loops) {
    const MemoryLevel& level = machine_.levels[static_cast<size_t>(buffer.level)];
    buffer.name = fmt::format("{}@{}{}", kernel_.tensors[static_cast<size_t>(buffer.tensor)].name, level.name,
                              buffer.name);
    buffer.is_shared = !level.is_per_unit;
    buffer.needed = Needed(loops);
    buffer.boxes = BoxNumbers(kernel_, buffer.tensor);
    all_.push_back(std::move(buffer));
    return all_.size() - 1;
}

}  // namespace tessera::nests
