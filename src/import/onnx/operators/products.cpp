// Products of matrices.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

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
        Operator{"Gemm", gemm},
        Operator{"MatMul", mat_mul},
        Operator{"MatMulInteger", mat_mul_integer},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
