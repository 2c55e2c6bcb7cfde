#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::chip {

enum class TransferKind : uint8_t { kPreload, kDistribute, kShift, kReduce, kStore };
inline constexpr TransferKind kTransferKinds[] = {TransferKind::kPreload, TransferKind::kDistribute,
                                                  TransferKind::kShift, TransferKind::kReduce,
                                                  TransferKind::kStore};
const char* name(TransferKind kind);

/// The same bytes from one place to all of `to`. Preloads come from, and stores go to, any controller.
struct Transfer {
    int32_t from = 0;         ///< core; 0 for a preload
    std::vector<int32_t> to;  ///< cores; of a store the controller that the program names
    int64_t bytes = 0;
    int64_t step = 0;  ///< of shift and reduce
    friend bool operator==(const Transfer&, const Transfer&) = default;
};

struct Tile {
    int64_t step = 0;
    int32_t core = 0;
    size_t unit = 0;  ///< of the chip
    int64_t flops = 0;
    friend bool operator==(const Tile&, const Tile&) = default;
};

struct ProgramOperator {
    std::string name;
    std::array<std::vector<Transfer>, 5> transfers;  ///< by TransferKind
    std::vector<Tile> tiles;
    std::vector<int64_t>
        preload_bytes;  ///< of each core: space from the begin of the preload to that of the execute
    std::vector<int64_t> execute_bytes;  ///< of each core: space of the execute

    const std::vector<Transfer>& of(TransferKind kind) const { return transfers[static_cast<size_t>(kind)]; }
};

struct ProgramEntry {
    bool is_execute = false;
    size_t op = 0;  ///< its position
    friend bool operator==(const ProgramEntry&, const ProgramEntry&) = default;
};

/// A device program for one chip: preloads are asynchronous, executes one after the other (paper 003, 4.5).
struct DeviceProgram {
    std::string name;
    std::vector<ProgramOperator> operators;
    std::vector<ProgramEntry> entries;  ///< one preload of each position, and one execute of each in order
    /// The operator at each position; empty: the i-th at position i.
    std::vector<size_t> sequence = {};

    size_t size() const { return sequence.empty() ? operators.size() : sequence.size(); }  ///< positions
    const ProgramOperator& at(size_t position) const {
        return operators[sequence.empty() ? position : sequence[position]];
    }
};

}  // namespace tessera::chip
