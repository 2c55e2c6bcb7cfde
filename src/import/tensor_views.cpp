#include "import/tensor_views.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "import/decoder_config.h"
#include "support/error.h"

namespace tessera::import {
namespace {

/// Rows [first, first + rows) of the transposed matrix.
std::vector<std::byte> transposed(const StoredTensor& stored, std::span<const std::byte> bytes, int64_t first,
                                  int64_t rows) {
    const auto inputs = static_cast<size_t>(stored.shape[0]), outputs = static_cast<size_t>(stored.shape[1]);
    const size_t element = bytes.size() / (inputs * outputs);
    std::vector<std::byte> all(static_cast<size_t>(rows) * inputs * element);
    std::byte* to = all.data();
    for (auto n = static_cast<size_t>(first); n < static_cast<size_t>(first + rows); ++n)
        for (size_t k = 0; k < inputs; ++k, to += element)
            std::memcpy(to, bytes.data() + (k * outputs + n) * element, element);
    return all;
}

/// The tensor without its contents; as it is stored if it has not the rows that its views share.
StoredTensor described(const StoredTensor& stored, const LayerView& view) {
    StoredTensor tensor = stored;
    const size_t rank = stored.shape.size();
    if (view.is_transposed && rank == 2 && stored.element) std::swap(tensor.shape[0], tensor.shape[1]);
    if (rank == 0 || tensor.shape[0] != view.total) return tensor;
    tensor.shape[0] = view.rows;
    if (view.is_transposed && rank == 2 && stored.element) {
        tensor.bytes = {};
    } else if (!view.is_transposed) {
        const size_t row = stored.bytes.size() / static_cast<size_t>(view.total);
        tensor.bytes =
            stored.bytes.subspan(static_cast<size_t>(view.first) * row, static_cast<size_t>(view.rows) * row);
    }
    return tensor;
}

}  // namespace

void split(DecoderConfig& config, const std::string& stored, std::span<const LayerTensor> tensors,
           bool is_transposed) {
    int64_t total = 0;
    for (const LayerTensor tensor : tensors) total += shape_of(tensor, config.size).front();
    int64_t first = 0;
    for (const LayerTensor tensor : tensors) {
        const int64_t rows = shape_of(tensor, config.size).front();
        const std::string part = rows == total ? "" : fmt::format("[{}:{}]", first, first + rows);
        const std::string name = fmt::format("{}{}{}", stored, is_transposed ? "^T" : "", part);
        config.views.push_back({stored, name, first, rows, total, is_transposed});
        config.names[tensor] = name;
        first += rows;
    }
}

TensorViews::TensorViews(std::shared_ptr<const WeightSource> checkpoint, const DecoderConfig& config)
    : checkpoint_(std::move(checkpoint)) {
    for (int64_t layer = 0; layer < config.size.layers; ++layer) {
        const std::string prefix = config.names.prefix(layer);
        for (const LayerView& view : config.views) {
            const std::string stored = prefix + view.stored;
            const StoredTensor* tensor = checkpoint_->find(stored);
            if (!tensor) continue;
            hidden_.insert(stored);
            StoredTensor own = described(*tensor, view);
            const bool is_made = own.bytes.empty() && !tensor->bytes.empty();
            views_.emplace(prefix + view.name, View{std::move(own), stored, view.first, is_made});
        }
    }
}

const StoredTensor* TensorViews::find(std::string_view name) const {
    if (hidden_.contains(name)) return nullptr;
    const auto found = views_.find(name);
    return found == views_.end() ? checkpoint_->find(name) : &found->second.tensor;
}

std::vector<std::string> TensorViews::names() const {
    std::vector<std::string> all;
    for (const std::string& name : checkpoint_->names())
        if (!hidden_.contains(name)) all.push_back(name);
    for (const auto& [name, view] : views_) all.push_back(name);
    std::sort(all.begin(), all.end());
    return all;
}

TensorContents TensorViews::contents(std::string_view name) const {
    const auto found = views_.find(name);
    if (found == views_.end()) return checkpoint_->contents(name);
    const View& view = found->second;
    if (!view.is_made) return {.bytes = view.tensor.bytes, .owner = nullptr};
    const StoredTensor& stored = *checkpoint_->find(view.stored);
    const TensorContents whole = checkpoint_->contents(view.stored);
    TESSERA_CHECK(stored.shape.size() == 2 && stored.element, "{} is transposed", view.stored);
    const auto made = std::make_shared<const std::vector<std::byte>>(
        transposed(stored, whole.bytes, view.first, view.tensor.shape[0]));
    return {.bytes = *made, .owner = made};
}

void TensorViews::release(std::string_view name) const {
    const auto found = views_.find(name);
    checkpoint_->release(found == views_.end() ? name : std::string_view(found->second.stored));
}

}  // namespace tessera::import
