#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "search/schedule/searched.h"

namespace tessera::schedule::testing {

/// A block of maps, of which only the order is looked at.
class OrderedOperators {
public:
    /// @param before by operator: earlier ones whose results it reads
    explicit OrderedOperators(std::vector<std::vector<int>> before)
        : before_(std::move(before)), searched_(text_of(before_.size())), block_(searched_.context()) {
        block_.readers.assign(before_.size(), {});
        for (size_t op = 0; op < before_.size(); ++op)
            for (const int earlier : before_[op])
                block_.readers[static_cast<size_t>(earlier)].push_back(static_cast<int>(op));
        block_.followers.assign(before_.size(), {});
    }
    /// Each operator reads up to two of those before it.
    OrderedOperators(size_t count, std::mt19937_64& random) : OrderedOperators(drawn(count, random)) {}

    BlockContext& block() { return block_; }
    const BlockContext& block() const { return block_; }
    const std::vector<std::vector<int>>& before() const { return before_; }

private:
    static std::vector<std::vector<int>> drawn(size_t count, std::mt19937_64& random) {
        std::vector<std::vector<int>> before(count);
        for (size_t op = 1; op < count; ++op) {
            std::set<int> read;
            for (size_t n = random() % 3; n > 0; --n) read.insert(static_cast<int>(random() % op));
            before[op].assign(read.begin(), read.end());
        }
        return before;
    }

    static std::string text_of(size_t count) {
        std::string values, nodes, outputs;
        for (size_t op = 0; op < count; ++op) {
            const std::string name = "v" + std::to_string(op);
            values += "value " + name + ": f32[4]\n";
            nodes += "  node " + name + "(x) -> " + name +
                     "\n    op map(i: 4)\n    in X f32[i]\n    out Y f32[i] = X + " + std::to_string(op + 1) +
                     "\n";
            outputs += (outputs.empty() ? "" : ", ") + name;
        }
        return "graph \"ordered\"\nsymbol T in 1..4\npoint prompt weight 1: T = 4\ninput x: f32[4]\n" +
               values + "\nblock main\n" + nodes + "\noutput " + outputs + "\n";
    }

    std::vector<std::vector<int>> before_;
    Searched searched_;
    BlockContext block_;
};

}  // namespace tessera::schedule::testing
