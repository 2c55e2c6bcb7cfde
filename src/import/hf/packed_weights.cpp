#include "import/hf/packed_weights.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ir/ops/weight_format.h"
#include "support/error.h"

namespace tessera::import {
namespace {

constexpr int64_t kInWord = 8;  ///< numbers of four bits in a word
constexpr int64_t kPackedBlock = 32;
constexpr size_t kPackedBlockBytes = 19;
/// The place in a word of AWQ of each of eight neighbours. They lie in the order 0, 2, 4, 6, 1, 3, 5, 7.
constexpr std::array<int, 8> kPlaceInAwq = {0, 4, 1, 5, 2, 6, 3, 7};

uint32_t packed_word(const StoredTensor& tensor, int64_t index) {
    uint32_t value = 0;
    std::memcpy(&value, tensor.bytes.data() + static_cast<size_t>(index) * sizeof(value), sizeof(value));
    return value;
}

/// The parts of one matrix.
struct PackedParts {
    const StoredTensor &q, &zeros, &scales;
    PackedForm form;
    int64_t outputs;
    int64_t group;  ///< inputs that share a scale
    int64_t zero_offset;

    unsigned quantised(int64_t n, int64_t k) const {
        if (form.method == PackedForm::Method::kGptq)
            return packed_word(q, k / kInWord * outputs + n) >> 4 * (k % kInWord) & 15;
        const int place = kPlaceInAwq[static_cast<size_t>(n % kInWord)];
        return packed_word(q, k * (outputs / kInWord) + n / kInWord) >> 4 * place & 15;
    }
    unsigned zero(int64_t n, int64_t k) const {
        const int place = form.method == PackedForm::Method::kGptq
                              ? static_cast<int>(n % kInWord)
                              : kPlaceInAwq[static_cast<size_t>(n % kInWord)];
        const unsigned stored =
            packed_word(zeros, k / group * (outputs / kInWord) + n / kInWord) >> 4 * place & 15;
        return stored + static_cast<unsigned>(zero_offset);
    }
    void put_block(int64_t n, int64_t k, uint8_t* to) const {
        std::memcpy(to, scales.bytes.data() + static_cast<size_t>(k / group * outputs + n) * 2, 2);
        to[2] = static_cast<uint8_t>(zero(n, k));
        for (int64_t j = 0; j < kPackedBlock / 2; ++j)
            to[3 + j] =
                static_cast<uint8_t>(quantised(n, k + j) | quantised(n, k + j + kPackedBlock / 2) << 4);
    }
};

bool is_words(const StoredTensor* tensor) {
    return tensor && tensor->element == ElementType::kI32 && tensor->shape.size() == 2;
}

/// True if input k belongs to group k div `group`. `desc_act` gives the inputs an order of their own.
bool is_in_order(const StoredTensor& groups, int64_t group) {
    if (groups.element != ElementType::kI32) return false;
    for (int64_t k = 0; k < std::ssize(groups.bytes) / 4; ++k)
        if (packed_word(groups, k) != static_cast<uint32_t>(k / group)) return false;
    return true;
}

/// The common value of all zero points; empty if they differ.
std::optional<uint32_t> only_zero(const StoredTensor& zeros) {
    const uint32_t first = packed_word(zeros, 0);
    for (int64_t i = 0; i < std::ssize(zeros.bytes) / 4; ++i)
        if (packed_word(zeros, i) != first) return std::nullopt;
    return first == (first & 15) * 0x11111111U ? std::optional(first & 15) : std::nullopt;
}

constexpr uint32_t kSymmetricZero = 8;
constexpr const char* kNumberPart = ".qweight";
constexpr const char* kZeroPart = ".qzeros";
constexpr const char* kScalePart = ".scales";
constexpr const char* kGroupPart = ".g_idx";

}  // namespace

PackedWeights::PackedWeights(std::shared_ptr<const WeightSource> checkpoint, PackedForm form)
    : checkpoint_(std::move(checkpoint)), form_(form) {
    for (const std::string& name : checkpoint_->names())
        if (name.ends_with(kNumberPart)) add(name.substr(0, name.size() - std::strlen(kNumberPart)));
}

void PackedWeights::add(const std::string& stem) {
    const StoredTensor *q = checkpoint_->find(stem + kNumberPart),
                       *zeros = checkpoint_->find(stem + kZeroPart);
    const StoredTensor *scales = checkpoint_->find(stem + kScalePart),
                       *groups = checkpoint_->find(stem + kGroupPart);
    for (const char* part : {kNumberPart, kZeroPart, kScalePart, kGroupPart}) hidden_.insert(stem + part);
    const bool is_gptq = form_.method == PackedForm::Method::kGptq;
    Matrix matrix{.tensor = {.type = is_gptq ? "GPTQ" : "AWQ", .element = {}, .shape = q->shape, .bytes = {}},
                  .stem = stem};
    std::string& type = matrix.tensor.type;
    const auto finish = [&](const char* why) {
        type += why;
        matrices_.emplace(stem + ".weight", std::move(matrix));
    };
    if (!is_words(q) || !is_words(zeros) || !scales || scales->shape.size() != 2)
        return finish(" without qweight and qzeros of I32 and scales");
    if (scales->element != ElementType::kF16) return finish((" with scales of " + scales->type).c_str());
    if (q->bytes.empty() || scales->bytes.empty() || zeros->bytes.empty()) return finish(" without numbers");
    const int64_t inputs = is_gptq ? q->shape[0] * kInWord : q->shape[0];
    const int64_t outputs = is_gptq ? q->shape[1] : q->shape[1] * kInWord;
    const int64_t count = scales->shape[0];
    matrix.tensor.shape = {outputs, inputs};
    if (outputs % kInWord != 0 || inputs % count != 0 || scales->shape[1] != outputs ||
        zeros->shape != std::vector<int64_t>{count, outputs / kInWord})
        return finish(" whose parts do not fit together");
    matrix.group = inputs / count;
    if (const std::string fault = complete(*zeros, groups, matrix); !fault.empty())
        return finish(fault.c_str());
    type = ops::info(ops::WeightFormat::kInt4).name;
    matrices_.emplace(stem + ".weight", std::move(matrix));
}

std::string PackedWeights::complete(const StoredTensor& zeros, const StoredTensor* groups,
                                    Matrix& matrix) const {
    const int64_t inputs = matrix.tensor.shape[1];
    if (matrix.group % kPackedBlock != 0) return " in groups that are no multiple of 32";
    if (groups && (groups->shape != std::vector<int64_t>{inputs} || !is_in_order(*groups, matrix.group)))
        return " with an order of its own (desc_act)";
    const int64_t stated = form_.group_size.value_or(matrix.group);
    if (matrix.group != (stated > 0 ? std::min(stated, inputs) : inputs))
        return fmt::format(" in groups of {}, where group_size is {}", matrix.group, stated);
    matrix.zero_offset = form_.zero_offset;
    if (form_.method != PackedForm::Method::kGptq || !form_.is_symmetric.value_or(true)) return {};
    const auto zero = only_zero(zeros);
    const int64_t offset = zero ? int64_t{kSymmetricZero} - *zero : -1;
    if (offset == 0 || offset == 1)
        matrix.zero_offset = offset;
    else if (form_.is_symmetric.value_or(false))
        return " with zero points of its own, where sym is true";
    return {};
}

const StoredTensor* PackedWeights::find(std::string_view name) const {
    if (hidden_.contains(name)) return nullptr;
    const auto found = matrices_.find(name);
    return found == matrices_.end() ? checkpoint_->find(name) : &found->second.tensor;
}

std::vector<std::string> PackedWeights::names() const {
    std::vector<std::string> all;
    for (const std::string& name : checkpoint_->names())
        if (!hidden_.contains(name) && !matrices_.contains(name)) all.push_back(name);
    for (const auto& [name, matrix] : matrices_) all.push_back(name);
    std::sort(all.begin(), all.end());
    return all;
}

TensorContents PackedWeights::contents(std::string_view name) const {
    const auto found = matrices_.find(name);
    if (found == matrices_.end()) return checkpoint_->contents(name);
    const Matrix& matrix = found->second;
    TESSERA_CHECK(matrix.group > 0, "{} is {}", name, matrix.tensor.type);
    const int64_t outputs = matrix.tensor.shape[0], inputs = matrix.tensor.shape[1];
    const PackedParts parts{*checkpoint_->find(matrix.stem + kNumberPart),
                            *checkpoint_->find(matrix.stem + kZeroPart),
                            *checkpoint_->find(matrix.stem + kScalePart),
                            form_,
                            outputs,
                            matrix.group,
                            matrix.zero_offset};
    const auto blocks = std::make_shared<std::vector<std::byte>>(
        static_cast<size_t>(outputs * inputs / kPackedBlock) * kPackedBlockBytes);
    auto* to = reinterpret_cast<uint8_t*>(blocks->data());
    for (int64_t n = 0; n < outputs; ++n)
        for (int64_t k = 0; k < inputs; k += kPackedBlock, to += kPackedBlockBytes) parts.put_block(n, k, to);
    return {.bytes = *blocks, .owner = blocks};
}

void PackedWeights::release(std::string_view name) const {
    const auto found = matrices_.find(name);
    if (found == matrices_.end()) return checkpoint_->release(name);
    for (const char* part : {kNumberPart, kZeroPart, kScalePart})
        checkpoint_->release(found->second.stem + part);
}

}  // namespace tessera::import
