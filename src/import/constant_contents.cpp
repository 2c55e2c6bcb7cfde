#include "import/constant_contents.h"

#include <functional>
#include <numeric>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "import/joined_rows.h"
#include "import/part_place.h"
#include "support/error.h"

namespace tessera::import {
namespace {

/// @throws Error if the source is missing or not what the graph expects.
void check_source(const WeightSource& weights, const Value& constant, const std::string& source,
                  const std::vector<int64_t>& shape, const std::string& where) {
    const StoredTensor* tensor = weights.find(source);
    if (!tensor) throw Error(where, source, "is missing", "constant " + constant.name + " needs it");
    if (tensor->shape != shape || tensor->element != constant.type.element) {
        throw Error(
            where, source,
            fmt::format("is {} [{}], the graph expects {} [{}]", tensor->type, fmt::join(tensor->shape, ", "),
                        name(constant.type.element), fmt::join(shape, ", ")));
    }
}

/// Parts that take turns in every row.
class RowsOfTurns final : public TensorRows {
public:
    struct Part {
        std::unique_ptr<TensorRows> tensor;
        PartPlace place;
    };
    RowsOfTurns(std::vector<Part> parts, size_t row_bytes)
        : parts_(std::move(parts)), row_bytes_(row_bytes) {}

    TensorContents rows(int64_t first, int64_t last) const override {
        const auto all =
            std::make_shared<std::vector<std::byte>>(static_cast<size_t>(last - first) * row_bytes_);
        for (const Part& part : parts_) put_part(part.tensor->rows(first, last).bytes, part.place, *all);
        return {.bytes = *all, .owner = all};
    }

private:
    std::vector<Part> parts_;
    size_t row_bytes_;
};

}  // namespace

TensorContents constant_contents(const WeightSource& weights, const Value& constant, int64_t repetition,
                                 const std::string& where) {
    if (!constant.concatenation) {
        const std::string& source = constant.source(repetition, 0);
        check_source(weights, constant, source, constant.part_shape(0), where);
        return weights.contents(source);
    }
    const std::vector<int64_t> shape = evaluate(constant.type.shape, {});
    const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    const auto whole = std::make_shared<std::vector<std::byte>>(
        static_cast<size_t>(elements) * static_cast<size_t>(bits(constant.type.element)) / 8);
    for (size_t part = 0; part < constant.parts(); ++part) {
        const std::string& source = constant.source(repetition, part);
        check_source(weights, constant, source, constant.part_shape(part), where);
        put_part(weights.contents(source).bytes, place_of(constant, part), *whole);
        weights.release(source);
    }
    return {.bytes = *whole, .owner = whole};
}

std::unique_ptr<TensorRows> open_constant(const WeightSource& weights, const Value& constant,
                                          int64_t repetition, const std::string& where) {
    std::vector<RowsOfTurns::Part> turns;
    std::vector<JoinedRows::Part> joined;
    for (size_t part = 0; part < constant.parts(); ++part) {
        const std::string& source = constant.source(repetition, part);
        const std::vector<int64_t> shape = constant.part_shape(part);
        check_source(weights, constant, source, shape, where);
        auto tensor = weights.open_rows(source);
        if (!constant.concatenation) return tensor;
        if (constant.concatenation->axis == 0)
            joined.push_back({std::move(tensor), shape.front()});
        else
            turns.push_back({std::move(tensor), place_of(constant, part)});
    }
    if (turns.empty()) return std::make_unique<JoinedRows>(std::move(joined));
    const std::vector<int64_t> shape = evaluate(constant.type.shape, {});
    const int64_t elements = std::accumulate(shape.begin() + 1, shape.end(), int64_t{1}, std::multiplies<>());
    return std::make_unique<RowsOfTurns>(
        std::move(turns),
        static_cast<size_t>(elements) * static_cast<size_t>(bits(constant.type.element)) / 8);
}

}  // namespace tessera::import
