#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace tessera::schedule::testing {

/// Maps, sums of two values, products, and reductions whose results scale rows.
class RandomBlock {
public:
    explicit RandomBlock(uint64_t seed) : random_(seed) {}

    std::string run() {
        matrices_.push_back({"x", 4096});
        inputs_ = "input x: f32[T, 4096]\n";
        const size_t count = 2 + below(3);
        for (size_t i = 0; i < count; ++i) add(fmt::format("v{}", i));
        std::vector<std::string> outputs;
        for (const std::string& name : made_)
            if (!read_.contains(name)) outputs.push_back(name);
        return fmt::format(
            "graph \"random\"\nsymbol T in 1..1024\npoint prompt weight 1: T = 1024\n{}{}\nblock "
            "main\n{}\noutput {}\n",
            inputs_, values_, nodes_, fmt::join(outputs, ", "));
    }

private:
    struct Matrix {
        std::string name;
        int64_t width;
    };

    size_t below(size_t end) { return static_cast<size_t>(random_() % end); }
    Matrix any() {
        const Matrix found = matrices_[below(matrices_.size())];
        read_.insert(found.name);
        return found;
    }

    void node(const std::string& name, const std::string& operands, const std::string& iterators,
              const std::string& body) {
        nodes_ += fmt::format("  node {0}({1}) -> {0}\n    op any(t: T, {2})\n    dim T in 1..1024\n{3}",
                              name, operands, iterators, body);
        made_.push_back(name);
    }

    void add_matrix(const std::string& name, int64_t width) {
        matrices_.push_back({name, width});
        values_ += fmt::format("value {}: f32[T, {}]\n", name, width);
    }

    void add(const std::string& name) {
        const Matrix of = any();
        const std::string d = fmt::format("d: {}", of.width);
        switch (below(vectors_.empty() ? 4 : 5)) {
            case 0:
                node(name, of.name, d, "    in X f32[t, d]\n    out Y f32[t, d] = exp(X) + 1\n");
                return add_matrix(name, of.width);
            case 1: {
                const int64_t width = std::vector<int64_t>{512, 1280, 4096}[below(3)];
                inputs_ += fmt::format("input w_{}: f32[{}, {}]\n", name, width, of.width);
                node(name, fmt::format("{}, w_{}", of.name, name),
                     fmt::format("n: {}, k*: {}", width, of.width),
                     "    in X f32[t, k]\n    in W f32[n, k]\n    out Y f32[t, n] = sum(X * W)\n");
                return add_matrix(name, width);
            }
            case 2:
                vectors_.push_back(name);
                values_ += fmt::format("value {}: f32[T]\n", name);
                return node(name, of.name, fmt::format("d*: {}", of.width),
                            "    in X f32[t, d]\n    out R f32[t] = rsqrt(sum(X * X) + 1)\n");
            case 3: {
                Matrix other = any();
                if (other.width != of.width) other = of;
                node(name, of.name + ", " + other.name, d,
                     "    in X f32[t, d]\n    in Z f32[t, d]\n    out Y f32[t, d] = X + Z\n");
                return add_matrix(name, of.width);
            }
            default: {
                const std::string& vector = vectors_[below(vectors_.size())];
                read_.insert(vector);
                node(name, of.name + ", " + vector, d,
                     "    in X f32[t, d]\n    in R f32[t]\n    out Y f32[t, d] = X * R\n");
                return add_matrix(name, of.width);
            }
        }
    }

    std::mt19937_64 random_;
    std::vector<Matrix> matrices_;
    std::vector<std::string> vectors_, made_;
    std::set<std::string> read_;
    std::string inputs_, values_, nodes_;
};

}  // namespace tessera::schedule::testing
