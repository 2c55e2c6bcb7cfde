#include "import/tensor_views.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

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

/// The shape of several matrices, also where they are stored as one; empty for others.
std::vector<int64_t> stack_of(const StoredTensor& stored, const TensorView& form) {
    if (stored.shape.size() == 3) return stored.shape;
    const bool is_stack = form.is_transposed && form.groups > 1 && stored.shape.size() == 2 &&
                          stored.shape[1] == form.total && stored.shape[0] % form.groups == 0;
    if (!is_stack) return {};
    return {form.groups, stored.shape[0] / form.groups, stored.shape[1]};
}

/// Each of several matrices transposed, which are stored one behind the other.
std::vector<std::byte> transposed_stack(const std::vector<int64_t>& shape, std::span<const std::byte> bytes) {
    const size_t matrix = bytes.size() / static_cast<size_t>(shape[0]);
    const StoredTensor one{.shape = {shape[1], shape[2]}};
    std::vector<std::byte> all;
    all.reserve(bytes.size());
    for (size_t at = 0; at < bytes.size(); at += matrix) {
        const std::vector<std::byte> own = transposed(one, bytes.subspan(at, matrix), 0, one.shape[1]);
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

/// Rows [first, first + rows) of each group of `total`.
std::vector<std::byte> taken_rows(std::span<const std::byte> bytes, const TensorView& view) {
    const size_t row = bytes.size() / static_cast<size_t>(view.groups * view.total);
    const size_t chunk = static_cast<size_t>(view.rows) * row;
    std::vector<std::byte> all(static_cast<size_t>(view.groups) * chunk);
    for (size_t group = 0; group < static_cast<size_t>(view.groups); ++group) {
        const size_t from = group * static_cast<size_t>(view.total) + static_cast<size_t>(view.first);
        std::memcpy(all.data() + group * chunk, bytes.data() + from * row, chunk);
    }
    return all;
}

}  // namespace

TensorViews::View TensorViews::described(const StoredTensor& stored, const TensorView& form) {
    View view{.tensor = stored, .form = form};
    StoredTensor& tensor = view.tensor;
    const int64_t all_rows = form.groups * form.total;
    const std::vector<int64_t> stack = stack_of(stored, form);
    view.is_transposed = form.is_transposed && stored.element.has_value() &&
                         (!stack.empty() || (stored.shape.size() == 2 && form.groups == 1));
    if (!stack.empty()) tensor.shape = stack;
    if (view.is_transposed) std::swap(tensor.shape.end()[-1], tensor.shape.end()[-2]);
    const bool is_stack = tensor.shape.size() == 3 && tensor.shape[0] * tensor.shape[1] == all_rows;
    if (is_stack) tensor.shape = {all_rows, tensor.shape[2]};
    // Numbers of a matrix by turns: rows of one number.
    const bool is_column = stored.shape.size() == 2 && tensor.shape[0] != all_rows &&
                           tensor.shape[0] * tensor.shape[1] == all_rows;
    if (is_column) tensor.shape = {all_rows, 1};
    if (form.is_flat) tensor.shape = {all_rows};
    if (tensor.shape.empty() || tensor.shape[0] != form.groups * form.total) return view;
    // A type that is no element keeps the shape of its rows, so that it is found wrong.
    view.is_turned = form.is_turned && stored.element.has_value() && tensor.shape.size() == 2;
    tensor.shape[0] = form.groups * form.rows;
    if (view.is_turned) tensor.shape = {form.groups * tensor.shape[1], form.rows};
    const bool is_whole = form.rows == form.total;
    view.is_made =
        view.is_transposed || view.is_turned || (!is_whole && (form.groups > 1 || stored.bytes.empty()));
    if (view.is_made) {
        tensor.bytes = {};
    } else if (!is_whole) {
        const size_t row = stored.bytes.size() / static_cast<size_t>(form.total);
        tensor.bytes =
            stored.bytes.subspan(static_cast<size_t>(form.first) * row, static_cast<size_t>(form.rows) * row);
    }
    return view;
}

TensorViews::TensorViews(std::shared_ptr<const WeightSource> checkpoint, std::span<const TensorView> views)
    : checkpoint_(std::move(checkpoint)) {
    for (const TensorView& view : views) {
        const StoredTensor* tensor = checkpoint_->find(view.stored);
        if (!tensor) continue;
        hidden_.insert(view.stored);
        views_.emplace(view.name, described(*tensor, view));
    }
}

const StoredTensor* TensorViews::find(std::string_view name) const {
    if (const auto found = views_.find(name); found != views_.end()) return &found->second.tensor;
    return hidden_.contains(name) ? nullptr : checkpoint_->find(name);
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
    if (!view.is_made && !view.tensor.bytes.empty()) return {.bytes = view.tensor.bytes, .owner = nullptr};
    TensorContents whole = checkpoint_->contents(view.form.stored);
    if (!view.is_made) return whole;
    const StoredTensor& stored = *checkpoint_->find(view.form.stored);
    std::vector<std::byte> turned;
    const std::vector<int64_t> stack = stack_of(stored, view.form);
    if (view.is_transposed && !stack.empty()) turned = transposed_stack(stack, whole.bytes);
    const bool is_matrix = view.is_transposed && stack.empty();
    std::vector<std::byte> rows = is_matrix ? transposed(stored, whole.bytes, view.form.first, view.form.rows)
                                            : taken_rows(turned.empty() ? whole.bytes : turned, view.form);
    const int64_t width = view.tensor.shape[0] / view.form.groups;
    if (view.is_turned) rows = transposed_stack({view.form.groups, view.form.rows, width}, rows);
    const auto made = std::make_shared<const std::vector<std::byte>>(std::move(rows));
    return {.bytes = *made, .owner = made};
}

std::unique_ptr<TensorRows> TensorViews::open_rows(std::string_view name) const {
    return views_.contains(name) ? WeightSource::open_rows(name) : checkpoint_->open_rows(name);
}

void TensorViews::release(std::string_view name) const {
    const auto found = views_.find(name);
    checkpoint_->release(found == views_.end() ? name : std::string_view(found->second.form.stored));
}

}  // namespace tessera::import
