#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/ops/block_builder.h"
#include "ir/ops/define.h"

namespace tessera::testing {

inline constexpr int64_t kSlots = 32;  ///< rows of the state and of the tables that are read indirectly
inline constexpr int64_t kMostTokens = 23;

/// Builds the graphs of random_graph.h. Each family adds one or more operators to the body of the graph: they
/// read something that is there and leave something of shape [T, width] behind.
class Generator {
public:
    /// `extent`: of all that the families make; drawn each time if it is not given.
    Generator(uint64_t seed, int64_t lanes, std::optional<int64_t> extent)
        : random_(seed), lanes_(lanes), extent_(extent) {}

    /// A few random families.
    Graph some();
    /// Each family once.
    Graph all();

private:
    using Family = void (Generator::*)();
    static const std::vector<Family>& families();
    Graph graph(const std::vector<Family>& body);

    struct Matrix {
        ValueId value;
        int64_t width;  ///< f32[T, width]
    };

    int64_t pick(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random_);
    }

    int64_t extent() {
        if (extent_) return *extent_;
        const int64_t choices[] = {1, lanes_ - 1, lanes_, lanes_ + 1, 2 * lanes_, 3, 7, 13, 31};
        return std::max<int64_t>(1, choices[pick(0, 8)]);
    }

    Matrix any() { return live_[static_cast<size_t>(pick(0, static_cast<int64_t>(live_.size()) - 1))]; }

    ops::BlockBuilder in_block(size_t block) { return {graph_, graph_.blocks[block], Rounding::kWeights}; }

    ValueId add_value(const std::string& name, ValueKind kind, ElementType type, std::vector<Dim> shape,
                      std::vector<std::string> sources = {}) {
        graph_.values.push_back(
            {name, kind, {.element = type, .shape = std::move(shape), .layout = {}}, std::move(sources)});
        return {static_cast<int>(graph_.values.size()) - 1};
    }

    /// One tensor for each repetition of the body, or one for all.
    ValueId constant(std::vector<Dim> shape, ElementType type = ElementType::kF32) {
        const std::string name = "w" + std::to_string(++names_);
        std::vector<std::string> sources = {name};
        if (pick(0, 1) == 1 && graph_.blocks[1].repeat == 2) sources.push_back(name + "_second");
        return add_value(name, ValueKind::kConstant, type, std::move(shape), std::move(sources));
    }

    template <typename... Values>
    DefinitionPtr op(const std::string& pattern, const Values&... values) {
        return ops::define(graph_.symbols, "op " + fmt::format(fmt::runtime(pattern), values...));
    }

    std::string fresh(const char* kind) { return fmt::format("{}{}", kind, ++names_); }

    Matrix add(const char* kind, const DefinitionPtr& definition, std::vector<ValueId> operands,
               int64_t width) {
        return {in_block(1).add(fresh(kind), definition, std::move(operands)), width};
    }

    void keep(Matrix m) { live_.push_back(m); }

    Matrix matmul(Matrix x, int64_t width);

    void unary();
    void binary();
    void norm();
    void product();
    void fold();
    void attend();
    void rounded_attend();
    void keep_normalised(const std::vector<ValueId>& sums, int64_t width, double scale);
    ValueId values(int64_t positions, int64_t width, ElementType type);
    void window();
    void views();
    void gather();
    void masked();
    void state();
    void rotate();
    void heads();
    void product2d();
    void scatter();
    void padded();
    void repeated();
    void add_rows();
    void few();
    void columns();
    void accumulate();
    void grouped();
    // typed_operators.cpp
    ElementType any_type();
    void typed_product();
    void quantised_product();
    std::vector<ValueId> block_numbers(int64_t depth, bool has_terms);
    ValueId block_scales(int64_t blocks);
    void block_product();
    ValueId bf16_rows(int64_t depth);
    void bf16_product();
    void bf16_accumulate();
    void quantised_rows();
    void typed_map();
    void wide();
    void rounded();
    void rounded_state();

    std::mt19937_64 random_;
    int64_t lanes_;
    std::optional<int64_t> extent_;
    int64_t names_ = 0;
    int64_t width_ = 1;
    Graph graph_;
    ValueId position_, slot_, table_;
    std::vector<Matrix> live_;
};

}  // namespace tessera::testing
