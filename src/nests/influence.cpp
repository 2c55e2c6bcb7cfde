#include "nests/influence.h"

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

uint64_t Influence::of_readers(int op, size_t iterator, size_t depth) {
    uint64_t loops = 0;
    for (const Result& result : kernel_.operators[static_cast<size_t>(op)].results) {
        if ((result.iterators >> iterator & 1) == 0) continue;
        for (const int reader : kernel_.tensors[static_cast<size_t>(result.tensor)].readers) {
            const Operator& reads = kernel_.operators[static_cast<size_t>(reader)];
            const size_t counted =
                std::min(depth, nest_.shared[static_cast<size_t>(op)][static_cast<size_t>(reader)]);
            const uint64_t used = reads.operands[*reads.operand(result.tensor)].reads.iterators();
            for (size_t x = 0; x < reads.iterators(); ++x)
                if ((used >> x & 1) != 0) loops |= on_range(reader, x, counted);
            loops |= on_frame(reader, counted);  // of an empty frame nothing is read
        }
    }
    return loops;
}

}  // namespace tessera::nests
