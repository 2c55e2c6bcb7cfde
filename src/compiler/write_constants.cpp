#include "compiler/write_constants.h"

#include "compiler/pack.h"
#include "plan/constants.h"
#include "support/error.h"

namespace tessera {
namespace {

/// Packed bytes after which the pages of the source are given back. Large enough that the system calls do not
/// count, small beside any model. A layout that walks the source in another order than it lies reads pages
/// again, from the cache of the system.
constexpr size_t kReleaseBytes = size_t{16} << 20;

/// One repetition of a constant, after the check that the checkpoint holds what the graph expects.
TensorContents source_contents(const WeightSource& weights, const Value& value, const std::string& source,
                               const std::string& where) {
    const StoredTensor* tensor = weights.find(source);
    if (!tensor) throw Error(where, source, "is missing");
    const std::vector<int64_t> shape = evaluate(value.type.shape, {});
    if (tensor->shape != shape || tensor->element != value.type.element) {
        throw Error(
            where, source,
            fmt::format("is {} [{}], the graph expects {} [{}]", tensor->type, fmt::join(tensor->shape, ", "),
                        name(value.type.element), fmt::join(shape, ", ")));
    }
    return weights.contents(source);
}

}  // namespace

void write_constants(const WeightSource& weights, const Compiled& compiled, const std::string& where,
                     ConstantSink& sink) {
    const ConstantSection section = constant_section(compiled.graph, compiled.plan);
    for (const Value& value : compiled.graph.values) {
        if (value.kind != ValueKind::kConstant) continue;
        const StoredConstant& stored = section.constants.at(value.name);
        const std::vector<int64_t> shape = evaluate(value.type.shape, {});
        for (size_t r = 0; r < value.sources.size(); ++r) {
            const std::string& source = value.sources[r];
            sink.advance_to(stored.offset + static_cast<int64_t>(r) * stored.stride);
            size_t since_release = 0;
            const TensorContents contents = source_contents(weights, value, source, where);
            pack(contents.bytes, shape, stored_layout(compiled.plan, value.name), bits(value.type.element),
                 [&](std::span<const std::byte> piece) {
                     sink.write(piece);
                     since_release += piece.size();
                     if (since_release < kReleaseBytes) return;
                     weights.release(source);
                     since_release = 0;
                 });
            weights.release(source);
        }
    }
}

}  // namespace tessera
