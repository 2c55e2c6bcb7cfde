#include "import/weights.h"

#include <algorithm>
#include <utility>

#include "support/error.h"

namespace tessera::import {
namespace {

class RowsOfContents final : public TensorRows {
public:
    RowsOfContents(TensorContents contents, int64_t rows) : contents_(std::move(contents)), rows_(rows) {}

    TensorContents rows(int64_t first, int64_t last) const override {
        TESSERA_CHECK(0 <= first && first <= last && last <= rows_, "rows {} to {} of {}", first, last,
                      rows_);
        // The last row may end within a byte.
        const size_t size = contents_.bytes.size();
        const size_t begin = byte(first), end = last == rows_ ? size : byte(last);
        return {.bytes = contents_.bytes.subspan(begin, end - begin), .owner = contents_.owner};
    }

private:
    size_t byte(int64_t row) const {
        const auto all = static_cast<size_t>(std::max(rows_, int64_t{1})), some = static_cast<size_t>(row);
        return contents_.bytes.size() / all * some + contents_.bytes.size() % all * some / all;
    }

    TensorContents contents_;
    int64_t rows_;
};

}  // namespace

std::unique_ptr<TensorRows> rows_of(TensorContents contents, const std::vector<int64_t>& shape) {
    return std::make_unique<RowsOfContents>(std::move(contents), shape.empty() ? 1 : shape.front());
}

TensorContents WeightSource::contents(std::string_view name) const {
    const StoredTensor* tensor = find(name);
    TESSERA_CHECK(tensor != nullptr, "{}", name);
    return {.bytes = tensor->bytes, .owner = nullptr};
}

std::unique_ptr<TensorRows> WeightSource::open_rows(std::string_view name) const {
    const StoredTensor* tensor = find(name);
    TESSERA_CHECK(tensor != nullptr, "{}", name);
    return rows_of(contents(name), tensor->shape);
}

}  // namespace tessera::import
