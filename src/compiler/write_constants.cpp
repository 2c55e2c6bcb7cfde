#include "compiler/write_constants.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "compiler/layout_copy.h"
#include "import/constant_contents.h"
#include "ir/stored_number.h"
#include "lowering/plan/constants.h"
#include "support/error.h"
#include "support/in_order.h"

namespace tessera::compiler {
namespace {

/// Packed bytes of a piece: they and what they are made of stay in the second level of every cache.
constexpr size_t kPieceBytes = size_t{256} << 10;
constexpr size_t kMostThreads = 16;

/// Packed bytes after which the pages of the source are given back. Large enough that the system calls do not
/// count, small beside any model. A layout that walks the source in another order than it lies reads pages
/// again, from the cache of the system.
constexpr size_t kReleaseBytes = size_t{16} << 20;

/// One repetition of a constant.
struct Repetition {
    const Value* value;
    int64_t index;
    int64_t offset;  ///< in the section
    const LayoutCopy* copy;
    size_t pieces = 0;
};

struct Piece {
    size_t repetition;
    Groups groups;
};

class ConstantPieces {
public:
    ConstantPieces(const import::WeightSource& weights, const Compiled& compiled, const std::string& where,
                   runtime::ConstantSink& sink)
        : weights_(weights), where_(where), sink_(sink) {
        const plan::ConstantSection section = plan::constant_section(compiled.graph, compiled.plan);
        for (const Value& value : compiled.graph.values) {
            if (value.kind != ValueKind::kConstant) continue;
            const plan::StoredConstant& stored = section.constants.at(value.name);
            copies_.push_back(std::make_unique<LayoutCopy>(evaluate(value.type.shape, {}),
                                                           plan::stored_layout(compiled.plan, value.name),
                                                           bits(value.type.element)));
            for (int64_t r = 0; r < value.repetitions(); ++r)
                add({&value, r, stored.offset + r * stored.stride, copies_.back().get()});
        }
    }

    size_t count() const { return pieces_.size(); }

    void make(size_t index, std::vector<std::byte>& buffer) {
        const auto& [repetition, groups] = pieces_[index];
        const LayoutCopy& copy = *repetitions_[repetition].copy;
        const std::shared_ptr<const import::TensorRows> source = opened(repetition);
        const Groups rows = copy.are_rows() ? copy.rows_of(groups) : copy.all_rows();
        const import::TensorContents contents = source->rows(rows.first, rows.last);
        check_finite(*repetitions_[repetition].value, contents.bytes);
        buffer.resize(copy.packed_bytes(groups));
        copy.pack(groups, contents.bytes, buffer);
    }

    void take(size_t index, std::span<const std::byte> bytes) {
        const auto& [repetition, groups] = pieces_[index];
        Repetition& whole = repetitions_[repetition];
        if (groups.first == 0) sink_.advance_to(whole.offset);
        sink_.write(bytes);
        since_release_ += bytes.size();
        const bool is_last = --whole.pieces == 0;
        if (!is_last && since_release_ < kReleaseBytes) return;
        const std::lock_guard lock(mutex_);
        if (is_last) open_.erase(repetition);
        for (size_t part = 0; part < whole.value->parts(); ++part)
            weights_.release(whole.value->source(whole.index, part));
        since_release_ = 0;
    }

private:
    void add(Repetition whole) {
        const LayoutCopy& copy = *whole.copy;
        const int64_t groups = copy.all().last, aligned = copy.aligned_groups();
        const size_t bytes = std::max<size_t>(copy.packed_bytes({0, aligned}), 1);
        const int64_t step = std::max(static_cast<int64_t>(kPieceBytes / bytes), int64_t{1}) * aligned;
        for (int64_t first = 0; first < groups; first += step, ++whole.pieces)
            pieces_.push_back({repetitions_.size(), {first, std::min(first + step, groups)}});
        repetitions_.push_back(whole);
    }

    /// Rewriting relies on what the graph says.
    void check_finite(const Value& value, std::span<const std::byte> bytes) const {
        if (value.is_finite && !are_finite(bytes, value.type.element))
            throw Error(where_, value.name, "has infinite elements or NaN, and is `finite` in the graph");
    }

    /// The source of a repetition, whose first piece opens it.
    std::shared_ptr<const import::TensorRows> opened(size_t repetition) {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<const import::TensorRows>& source = open_[repetition];
        if (source) return source;
        const auto& [value, index, offset, copy, pieces] = repetitions_[repetition];
        source = import::open_constant(weights_, *value, index, where_);
        // Every piece needs all of it, which is made once.
        if (!copy->are_rows()) {
            const Groups all = copy->all_rows();
            source = import::rows_of(source->rows(all.first, all.last), evaluate(value->type.shape, {}));
        }
        return source;
    }

    const import::WeightSource& weights_;
    const std::string& where_;
    runtime::ConstantSink& sink_;
    std::vector<std::unique_ptr<const LayoutCopy>> copies_;
    std::vector<Repetition> repetitions_;
    std::vector<Piece> pieces_;
    size_t since_release_ = 0;
    std::mutex mutex_;  ///< of the weights, and of what is open
    std::map<size_t, std::shared_ptr<const import::TensorRows>> open_;
};

}  // namespace

size_t packing_threads() {
    return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
}

void write_constants(const import::WeightSource& weights, const Compiled& compiled, const std::string& where,
                     runtime::ConstantSink& sink, size_t threads) {
    ConstantPieces pieces(weights, compiled, where, sink);
    run_in_order({.count = pieces.count(),
                  .make = [&](size_t i, std::vector<std::byte>& buffer) { pieces.make(i, buffer); },
                  .take = [&](size_t i, std::span<const std::byte> bytes) { pieces.take(i, bytes); }},
                 threads);
}

}  // namespace tessera::compiler
