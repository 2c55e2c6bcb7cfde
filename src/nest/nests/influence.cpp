#include "nest/nests/influence.h"

#include <algorithm>

namespace tessera::nests {

uint64_t Influence::on_range(int op, size_t iterator, size_t depth) {
    uint64_t loops = on_frame(op, iterator, depth);
    for (size_t i = 0; i < depth; ++i) {
        const Loop& loop = nest_.loop(nest_.around[static_cast<size_t>(op)][i]);
        if (loop.op == op && loop.iterator == iterator) loops |= uint64_t{1} << i;
    }
    return loops;
}

uint64_t Influence::on_frame(int op, size_t iterator, size_t depth) {
    if (op == nest_.last) return 0;
    const auto known = known_.find({op, iterator, depth});
    if (known != known_.end()) return known->second;
    const uint64_t loops = of_readers(op, iterator, depth);
    known_.emplace(std::tuple{op, iterator, depth}, loops);
    return loops;
}

uint64_t Influence::on_frame(int op, size_t depth) {
    uint64_t loops = 0;
    for (size_t x = 0; x < kernel_.operators[static_cast<size_t>(op)].iterators(); ++x)
        loops |= on_frame(op, x, depth);
    return loops;
}

uint64_t Influence::on_read(int op, int tensor, size_t depth) {
    const Operator& reader = kernel_.operators[static_cast<size_t>(op)];
    const uint64_t used = reader.operands[*reader.operand(tensor)].reads.iterators();
    uint64_t loops = 0;
    for (size_t x = 0; x < reader.iterators(); ++x)
        if ((used >> x & 1) != 0) loops |= on_range(op, x, depth);
    return loops;
}

uint64_t Influence::on_load(int tensor, size_t depth) {
    uint64_t loops = 0;
    for (const int reader : kernel_.tensors[static_cast<size_t>(tensor)].readers)
        loops |= on_read(reader, tensor, depth) | on_frame(reader, depth);
    return loops;
}

uint64_t Influence::of_readers(int op, size_t iterator, size_t depth) {
    uint64_t loops = 0;
    for (const Result& result : kernel_.operators[static_cast<size_t>(op)].results) {
        if ((result.iterators >> iterator & 1) == 0) continue;
        for (const int reader : kernel_.tensors[static_cast<size_t>(result.tensor)].readers) {
            const size_t counted =
                std::min(depth, nest_.shared[static_cast<size_t>(op)][static_cast<size_t>(reader)]);
            loops |= on_read(reader, result.tensor, counted);
            loops |= on_frame(reader, counted);  // of an empty frame nothing is read
        }
    }
    return loops;
}

}  // namespace tessera::nests
