// Products of matrices.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "import/onnx/activation.h"
#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

/// A vector is a matrix of one row or column, which vanishes from the result.
Operand product_of_any(const Call& call, Operand a, Operand b, DataType type) {
    call.expect(a.rank() > 0 && b.rank() > 0, "multiplies a scalar");
    const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
    if (is_row) a = call.build.with_shape(a, {Dim(1), a.shape[0]});
    if (is_column) b = call.build.with_shape(b, {b.shape[0], Dim(1)});
    const Operand y = product(call, a, b, type);
    std::vector<Dim> shape = y.shape;
    if (is_column) shape.pop_back();
    if (is_row) shape.erase(shape.end() - (is_column ? 1 : 2));
    return call.build.with_shape(y, shape);
}

Results mat_mul(const Call& call) {
    return {product_of_any(call, call.in(0), call.in(1), call.in(0).type)};
}

/// An operand of FusedMatMul, whose last two axes may be exchanged, and whose first axis may stand before the
/// last one.
Operand turned(const Call& call, const Operand& x, bool is_transposed, bool has_batch_inside) {
    const size_t rank = x.rank();
    std::vector<size_t> order;
    for (size_t axis = 0; axis < rank; ++axis) order.push_back(axis);
    if (rank < 2) return x;
    if (has_batch_inside) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
    if (is_transposed) std::swap(order[rank - 2], order[rank - 1]);
    return std::ranges::is_sorted(order) ? x : transpose(call, x, order);
}

Results fused_mat_mul(const Call& call) {
    const auto is = [&](const char* name) { return call.integer(name, 0) != 0; };
    const Operand a = turned(call, call.in(0), is("transA"), is("transBatchA")),
                  b = turned(call, call.in(1), is("transB"), is("transBatchB"));
    const Operand y = product_of_any(call, a, b, a.type);
    const double alpha = call.number("alpha", 1);
    if (alpha == 1) return {y};
    return {elementwise(call, {y}, fmt::format("A * {}", real_text(alpha)))};
}

/// Weights in blocks along k, [n, k / block, bytes], of unsigned numbers below a byte, each block with a
/// scale and a zero point; those of a row begin at a byte.
Results mat_mul_n_bits(const Call& call) {
    const Operand &a = call.in(0), &b = call.in(1);
    const int64_t n = call.integer("N", 0), k = call.integer("K", 0), bits = call.integer("bits", 4),
                  block = call.integer("block_size", 0);
    call.expect(bits == 2 || bits == 4 || bits == 8, fmt::format("has {} bits, expected 2, 4 or 8", bits));
    call.expect(n > 0 && k > 0 && n < kMostExtent && k < kMostExtent && block >= 16 && block < kMostExtent &&
                    block % 16 == 0,
                fmt::format("has {} x {} weights in blocks of {}", n, k, block));
    call.expect(!call.has(4), "has groups in another order (g_idx)");
    const int64_t blocks = (k + block - 1) / block, each = 8 / bits, levels = int64_t{1} << bits;
    const auto has_shape = [](const Operand& x, const std::vector<int64_t>& shape) {
        return x.shape == dims_of(shape);
    };
    call.expect(has_shape(b, {n, blocks, block / each}) && b.type == DataType::kUint8,
                "has weights of another shape or type than its attributes say");
    const Operand scales = call.build.with_shape(call.in(2), dims_of({n, blocks}));
    // Number i of several in a byte lies i * bits above its lowest one.
    const auto field = [&](const std::string& byte, const std::string& place) {
        if (each == 1) return byte;
        std::string value = byte;
        for (int64_t i = 1; i < each; ++i)
            value = fmt::format("select({} mod {} == {}, {} div {}, {})", place, each, i, byte,
                                int64_t{1} << (i * bits), value);
        return fmt::format("({} mod {})", value, levels);
    };
    OperatorText text = operator_text(call);
    text.over("n", Dim(n)).over("k", Dim(k));
    text.read(b, "B", {"n", fmt::format("k div {}", block), fmt::format("(k mod {}) div {}", block, each)});
    text.read(scales, "S", {"n", fmt::format("k div {}", block)});
    std::string zero = fmt::format("{}", levels / 2);
    if (call.has(3) && call.in(3).type == DataType::kUint8) {
        const int64_t bytes = (blocks + each - 1) / each;
        const Operand zeros = call.build.with_shape(call.in(3), dims_of({n, bytes}));
        text.read(zeros, "Z", {"n", fmt::format("k div {}", block * each)});
        zero = field("Z", fmt::format("(k div {})", block));
    } else if (call.has(3)) {
        text.read(call.build.with_shape(call.in(3), dims_of({n, blocks})), "Z",
                  {"n", fmt::format("k div {}", block)});
        zero = "Z";
    }
    const Operand w = call.build.add(
        text.write(a.type, dims_of({k, n}), {"k", "n"}, fmt::format("({} - {}) * S", field("B", "k"), zero)));
    const Operand y = product_of_any(call, a, w, a.type);
    return {call.has(5) ? elementwise(call, {y, call.in(5)}, "A + B") : y};
}

Results gemm(const Call& call) {
    Operand a = call.in(0), b = call.in(1);
    call.expect(a.rank() == 2 && b.rank() == 2, "multiplies what are no matrices");
    if (call.integer("transA", 0) != 0) a = transpose(call, a, {1, 0});
    if (call.integer("transB", 0) != 0) b = transpose(call, b, {1, 0});
    Operand y = product(call, a, b, a.type);
    const double alpha = call.number("alpha", 1), beta = call.number("beta", 1);
    if (alpha != 1) y = elementwise(call, {y, known_scalar(y.type, alpha)}, wrapped("A * B", y.type));
    if (!call.has(2) || beta == 0) return {y};
    if (beta == 1) return {elementwise(call, {y, call.in(2)}, wrapped("A + B", y.type))};
    return {elementwise(call, {y, call.in(2), known_scalar(y.type, beta)}, wrapped("A + C * B", y.type))};
}

Results fused_gemm(const Call& call) {
    return {fused_activation(call, gemm(call).front())};
}

/// Less the zero points of an operand: one, or one for each row of A or column of B.
Operand without_zero(const Call& call, const Operand& x, size_t zero, bool by_column) {
    if (!call.has(zero)) return cast(call, x, DataType::kInt32);
    Operand z = call.in(zero);
    if (z.rank() == 1 && !by_column && z.shape[0] != Dim(1))
        z = call.build.with_shape(z, {z.shape[0], Dim(1)});
    if (z.rank() == 1 && z.shape[0] == Dim(1)) z = call.build.with_shape(z, {});
    return less_zero_point(call, x, z);
}

Results mat_mul_integer(const Call& call) {
    return {product_of_any(call, without_zero(call, call.in(0), 2, false),
                           without_zero(call, call.in(1), 3, true), DataType::kInt32)};
}

/// One operator: letters are iterators, those that the result lacks are folded.
Results einsum(const Call& call) {
    std::string equation;
    for (const char c : call.text("equation", ""))
        if (c != ' ') equation += c;
    const size_t arrow = equation.find("->");
    std::vector<std::string> inputs(1);
    for (const char c : equation.substr(0, arrow)) {
        if (c == ',') {
            inputs.emplace_back();
        } else {
            inputs.back() += c;
        }
    }
    call.expect(inputs.size() == call.inputs() && inputs.size() <= 16, "has an equation of other inputs");
    const std::vector<Operand> operands = call.all();
    // The axes of an ellipsis are those at the end of its letters, counted from the last one.
    std::map<std::string, Dim> extents;
    std::vector<std::vector<std::string>> labels;
    size_t most = 0;
    std::set<char> letters, twice;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const size_t dots = inputs[i].find("...");
        const size_t named = inputs[i].size() - (dots == std::string::npos ? 0 : 3);
        call.expect(named <= operands[i].rank() && (dots != std::string::npos || named == operands[i].rank()),
                    fmt::format("has \"{}\" for an input of {} axes", inputs[i], operands[i].rank()));
        const size_t covered = operands[i].rank() - named;
        most = std::max(most, covered);
        std::vector<std::string> own;
        for (size_t at = 0; at < inputs[i].size(); ++at) {
            const char c = inputs[i][at];
            if (c == '.') {
                for (size_t d = covered; d > 0; --d) own.push_back(fmt::format("dot{}", d));
                at += 2;
                continue;
            }
            call.expect(std::isalpha(static_cast<unsigned char>(c)) != 0,
                        fmt::format("has the letter \"{}\"", c));
            own.push_back(fmt::format("l{}", c));
            if (!letters.insert(c).second) twice.insert(c);
        }
        for (size_t axis = 0; axis < own.size(); ++axis) {
            const auto [found, is_new] = extents.emplace(own[axis], operands[i].shape[axis]);
            if (!is_new && found->second == Dim(1)) found->second = operands[i].shape[axis];
            call.expect(found->second == operands[i].shape[axis] || operands[i].shape[axis] == Dim(1),
                        fmt::format("has two extents for \"{}\"", own[axis]));
        }
        labels.push_back(std::move(own));
    }
    std::string result = arrow == std::string::npos ? "" : equation.substr(arrow + 2);
    if (arrow == std::string::npos) {
        result = most > 0 ? "..." : "";
        for (const char c : letters)
            if (!twice.contains(c)) result += c;
    }
    std::vector<std::string> written;
    for (size_t at = 0; at < result.size(); ++at) {
        if (result[at] == '.') {
            for (size_t d = most; d > 0; --d) written.push_back(fmt::format("dot{}", d));
            at += 2;
        } else {
            written.push_back(fmt::format("l{}", result[at]));
        }
    }
    OperatorText text = operator_text(call);
    std::vector<Dim> shape;
    for (const std::string& label : written) {
        call.expect(extents.contains(label), "has a letter in the result that no input has");
        shape.push_back(extents.at(label));
        text.over(label, shape.back());
    }
    for (const auto& [label, extent] : extents)
        if (std::ranges::find(written, label) == written.end()) text.folding(label, extent);
    std::string body;
    for (size_t i = 0; i < operands.size(); ++i) {
        std::vector<std::string> read = labels[i];
        for (size_t axis = 0; axis < read.size(); ++axis)
            if (operands[i].shape[axis] == Dim(1)) read[axis] = "0";
        text.read(operands[i], fmt::format("A{}", i), read);
        body += fmt::format("{}A{}", body.empty() ? "" : " * ", i);
    }
    const bool is_fold = written.size() < extents.size();
    const DataType type = operands.front().type;
    return {call.build.add(text.write(
        type, shape, written, is_fold ? wrapped(fmt::format("sum({})", body), type) : wrapped(body, type)))};
}

}  // namespace

std::span<const Operator> products() {
    static constexpr std::array kOperators = {
        Operator{"Einsum", einsum},
        Operator{"FusedGemm", fused_gemm, kMicrosoft},
        Operator{"FusedMatMul", fused_mat_mul, kMicrosoft},
        Operator{"Gemm", gemm},
        Operator{"MatMul", mat_mul},
        Operator{"MatMulInteger", mat_mul_integer},
        Operator{"MatMulNBits", mat_mul_n_bits, kMicrosoft},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
