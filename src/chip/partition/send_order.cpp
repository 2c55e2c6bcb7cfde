#include "chip/partition/send_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "support/error.h"

namespace tessera::partition {
namespace {

/// 2^32 over the golden ratio: multiples are spread evenly, modulo 2^32. Source: Knuth, The Art of Computer
/// Programming 3, 6.4.
constexpr uint64_t kGolden = 2654435769;

template <typename T>
void permute(std::vector<T>& values, const std::vector<size_t>& order) {
    std::vector<T> permuted;
    permuted.reserve(values.size());
    for (const size_t i : order) permuted.push_back(std::move(values[i]));
    values = std::move(permuted);
}

}  // namespace

std::vector<uint64_t> scattered(size_t count) {
    std::vector<uint64_t> keys;
    for (size_t i = 0; i < count; ++i) keys.push_back(static_cast<uint32_t>(i * kGolden));
    return keys;
}

void sort_transfers(MadeOperator& made, chip::TransferKind kind, const std::vector<uint64_t>& keys) {
    std::vector<chip::Transfer>& transfers = made.program.transfers[static_cast<size_t>(kind)];
    TESSERA_CHECK(keys.size() == transfers.size(), "{} keys of {} transfers", keys.size(), transfers.size());
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
    permute(transfers, order);
    auto& contents = made.contents.transfers[static_cast<size_t>(kind)];
    if (!contents.empty()) permute(contents, order);
}

}  // namespace tessera::partition
