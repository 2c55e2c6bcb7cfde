#include "compiler/write_constants.h"

#include "compiler/pack.h"
#include "import/constant_contents.h"
#include "plan/constants.h"

namespace tessera::compiler {
namespace {

/// Packed bytes after which the pages of the source are given back. Large enough that the system calls do not
/// count, small beside any model. A layout that walks the source in another order than it lies reads pages
/// again, from the cache of the system.
constexpr size_t kReleaseBytes = size_t{16} << 20;

}  // namespace

void write_constants(const import::WeightSource& weights, const Compiled& compiled, const std::string& where,
                     runtime::ConstantSink& sink) {
    const plan::ConstantSection section = plan::constant_section(compiled.graph, compiled.plan);
    for (const Value& value : compiled.graph.values) {
        if (value.kind != ValueKind::kConstant) continue;
        const plan::StoredConstant& stored = section.constants.at(value.name);
        const std::vector<int64_t> shape = evaluate(value.type.shape, {});
        for (int64_t r = 0; r < value.repetitions(); ++r) {
            sink.advance_to(stored.offset + r * stored.stride);
            size_t since_release = 0;
            const import::TensorContents contents = import::constant_contents(weights, value, r, where);
            const auto release = [&] {
                for (size_t part = 0; part < value.parts(); ++part) weights.release(value.source(r, part));
            };
            pack(contents.bytes, shape, plan::stored_layout(compiled.plan, value.name),
                 bits(value.type.element), [&](std::span<const std::byte> piece) {
                     sink.write(piece);
                     since_release += piece.size();
                     if (since_release < kReleaseBytes) return;
                     release();
                     since_release = 0;
                 });
            release();
        }
    }
}

}  // namespace tessera::compiler
