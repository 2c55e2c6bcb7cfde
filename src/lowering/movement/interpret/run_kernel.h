#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowering/movement/interpret/fault_list.h"
#include "lowering/movement/interpret/kernel_code.h"
#include "lowering/movement/interpret/shadow.h"

namespace tessera::movement {

/// A buffer where one worker finds it in one repetition.
struct StorageRun {
    std::byte* data = nullptr;
    int64_t elements = 0;
    ElementType element = ElementType::kF32;
    Shadow* shadow = nullptr;  ///< none: nobody writes there
    size_t shadow_begin = 0;   ///< of the first element's first byte
    uint32_t owner = 0;        ///< under which the buffer's elements are known
    bool is_shared = true;     ///< between buffers: then the owner of each byte read counts
    const std::string* name = nullptr;
};

/// Runs one kernel for one worker.
class KernelRun {
public:
    /// `storages`: of the kernel's buffers. `slots`: the worker and the symbols.
    KernelRun(const KernelCode& code, std::vector<StorageRun> storages, std::span<const int64_t> slots,
              const Toucher& who, FaultList& faults);

    void run() { run(code_.body); }

private:
    static constexpr size_t kWidth = kMostLanes;
    using Lanes = std::array<double, kWidth>;
    struct Tile {
        std::vector<std::byte> data;
        Shadow shadow;
    };

    int64_t index(const IndexCode& code);
    void check_bounds(const Variable& variable, int64_t value);

    /// True if [first, last] are elements of the buffer.
    bool is_inside(const StorageRun& storage, int64_t first, int64_t last, int64_t stride);
    void note_read(const StorageRun& storage, int64_t element);
    void note_write(const StorageRun& storage, int64_t element);
    /// @param used 0 for lanes whose number nobody uses; null: all are
    void load(const StorageRun& storage, int64_t first, int64_t stride, int64_t count, double* values,
              const double* used = nullptr);
    void store(const StorageRun& storage, int64_t element, double value);

    /// As many numbers as there are valid lanes, or one if the value has none.
    /// To the numbers of the kernel.
    double rounded(double number) const;
    void value(const ValueCode& code, double* out);
    double scalar(const ValueCode& code);
    void value_of(const ConstantCode& code, bool has_lanes, double* out);
    void value_of(const IntegerCode& code, bool has_lanes, double* out);
    void value_of(const LoadCode& code, bool has_lanes, double* out);
    void value_of(const AccumulatorCode& code, bool has_lanes, double* out);
    void value_of(const ApplyCode& code, bool has_lanes, double* out);
    void value_of(const RoundCode& code, bool has_lanes, double* out);
    /// The value in every valid lane.
    void widened(const ValueCode& code, double* out, int64_t count);

    void run(const BodyCode& body);
    void run(const ForCode& loop);
    void run(const LetCode& let);
    void run(const IfCode& branch);
    void run(const StoreCode& store);
    void run(const DeclareCode& declared);
    void run(const AccumulateCode& fold);
    void run(const TileCode& tile);
    void run(const FillCode& fill);

    const KernelCode& code_;
    std::vector<StorageRun> storages_;
    std::vector<int64_t> slots_;
    std::vector<Lanes> accumulators_;
    std::vector<Tile> tiles_;
    Toucher who_;
    FaultList& faults_;
    int64_t valid_ = 1;  ///< lanes of the group; 1 outside of loops over lanes
    bool in_lanes_ = false;
    /// Lanes whose values are folded or selected, in a value under a condition: the others load what nobody
    /// asks for.
    const double* used_ = nullptr;
};

}  // namespace tessera::movement
