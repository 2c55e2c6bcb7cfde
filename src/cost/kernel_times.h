#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cost/row_blocks.h"
#include "machine/machine.h"

namespace tessera::cost {

/// A call of a micro-kernel for products, or of the streaming softmax, whose rows are `m`, reduction `k`
/// (positions) and columns `n` (values).
struct ProductCall {
    std::string micro_kernel;
    std::map<std::string, std::string> types;  ///< lowering/plan/micro_kernel.h
    std::map<std::string, int64_t> parameters;
    int64_t m = 1, n = 1, k = 1;
};

struct ProductTime {
    double near_seconds = 0;    ///< of one call on one core, B and all else in the core's own caches
    double stall_per_byte = 0;  ///< the additional time for each byte of B from the main memory
    int64_t least_k = 1;        ///< below which no sum is listed: `near_seconds` then leaves out what a block
                                ///< takes however short its sums are
};

/// The machine's table of micro-kernels as a function of the sizes.
///
/// Listed are times of m rows in blocks, as NTT cuts them; so the time of a block is the call's by their
/// number, and that of the largest what blocks of other sizes leave of the call's. A call of other sizes is
/// cut into blocks as NTT would (row_blocks.h), and the time of a block of r rows, for each pair of n and k,
/// is interpolated in the logarithms: first along k between entries of the same rows, then along r. Beyond
/// the listed k it stays what it is at the last one; `least_k` says that it does so. Columns count in whole
/// lanes, k in whole steps of the unit. Panels count for a call that has blocks of rows enough for them,
/// prefetching for others. Entries are those of the same kernel and types whose other parameters agree; among
/// equal rows the one with the nearest number of groups counts. Lanes that are not listed are as much slower
/// as they are fewer. If the types are not listed, those of the same A with the nearest number of bits of B
/// stand in for them.
class KernelTimes {
public:
    explicit KernelTimes(const machine::Machine& machine);

    /// Nothing if no time of this micro-kernel is listed.
    std::optional<ProductTime> of(const ProductCall& call) const;

    class OfCalls;
    /// Times of calls that differ in their sizes alone.
    OfCalls of_calls(const ProductCall& like) const;

private:
    struct Entry {
        std::string micro_kernel;
        std::map<std::string, std::string> types;
        std::map<std::string, int64_t> mode;  ///< parameters but rows, groups, columns and lanes
        int64_t lanes = 1, width = 1;
        RowBlocks blocks;
        int64_t depth = 1;  ///< k that are multiplied at once
        int64_t m = 1, n = 1, k = 1;
        std::map<int64_t, int64_t> cut;  ///< of the m rows, by `blocks`
        double bits_of_b = 32;
        double near_seconds = 0;
        std::optional<double> far_seconds;
    };
    std::vector<const Entry*> comparable(const Entry& wanted) const;
    static Entry described(const std::string& micro_kernel, const std::map<std::string, std::string>& types,
                           const std::map<std::string, int64_t>& parameters);

    std::vector<Entry> entries_;
};

/// Remembers what depends on the number of rows alone. @pre the table outlives it
class KernelTimes::OfCalls {
public:
    OfCalls(const KernelTimes& times, const ProductCall& like);
    std::optional<ProductTime> operator()(int64_t m, int64_t n, int64_t k);

private:
    /// Seconds of blocks and stalls for calls of some rows.
    struct ForRows {
        std::map<int64_t, std::map<int64_t, double>>
            blocks;  ///< for each n and k: by rows of the block, by k
        std::map<int64_t, std::map<int64_t, double>> stalls;  ///< for each byte: by m, by k
        int64_t lanes = 1;                                    ///< of the entries
    };
    ForRows for_rows(int64_t m) const;

    const KernelTimes& times_;
    const Entry wanted_;
    const int64_t step_;  ///< of columns
    std::map<int64_t, ForRows> known_;
};

/// Bits of one element of a weight format or element type by name; 32 for any other name.
double bits_of_type(const std::string& name);

}  // namespace tessera::cost
