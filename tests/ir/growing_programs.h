#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

/// Programs of any size, of the kinds that searches have choked on: chains, fans, and what lies between.
/// Two sizes of a kind show how the work of a search grows.
namespace tessera::testing {

class GrowingProgram {
public:
    /// A value of this type, which the operator makes of others: `lines` from `op` on.
    void add(const std::string& name, const std::string& type, const std::vector<std::string>& operands,
             const std::vector<std::string>& lines) {
        values_ += fmt::format("value {}: f32[{}]\n", name, type);
        nodes_ += fmt::format("  node {0}({1}) -> {0}\n", name, fmt::join(operands, ", "));
        for (const std::string& line : lines) nodes_ += "    " + line + "\n";
    }
    void input(const std::string& name, const std::string& type) {
        inputs_ += fmt::format("input {}: f32[{}]\n", name, type);
    }
    void constant(const std::string& name, const std::string& type) {
        inputs_ += fmt::format("constant {0}: f32[{1}] from \"{0}\"\n", name, type);
    }
    void map(const std::string& name, const std::string& x, const std::string& body) {
        add(name, "6, 8", {x}, {"op map(i: 6, j: 8)", "in X f32[i, j]", "out Y f32[i, j] = " + body});
    }
    void sum(const std::string& name, const std::string& a, const std::string& b) {
        add(name, "6, 8", {a, b},
            {"op add(i: 6, j: 8)", "in A f32[i, j]", "in B f32[i, j]", "out Y f32[i, j] = A + B"});
    }
    std::string text(const std::vector<std::string>& outputs) const {
        return "graph \"growing\"\n" + inputs_ + values_ + "block main\n" + nodes_ +
               fmt::format("output {}\n", fmt::join(outputs, ", "));
    }

private:
    std::string inputs_, values_, nodes_;
};

/// Maps, one after the other, no two of which are equal.
inline std::string chain_of_maps(int n) {
    GrowingProgram program;
    program.input("x", "6, 8");
    std::string last = "x";
    for (int i = 0; i < n; ++i) {
        const std::string name = fmt::format("v{}", i);
        program.map(name, last, i % 3 == 2 ? "exp(X * 0.1)" : fmt::format("X * 0.5 + {}", i));
        last = name;
    }
    return program.text({last});
}

/// Sums along rows, and maps that read them and what was summed.
inline std::string chain_of_norms(int n) {
    GrowingProgram program;
    program.input("x", "6, 8");
    std::string last = "x";
    for (int i = 0; i < n; i += 2) {
        const std::string sum = fmt::format("r{}", i), name = fmt::format("v{}", i);
        program.add(sum, "6", {last},
                    {"op sum(i: 6, j*: 8)", "in X f32[i, j]", "out R f32[i] = sum(X * X) + 1"});
        program.add(name, "6, 8", {last, sum},
                    {"op scale(i: 6, j: 8)", "in X f32[i, j]", "in R f32[i]", "out Y f32[i, j] = X / R"});
        last = name;
    }
    return program.text({last});
}

/// Sums of all inputs, one after the other.
inline std::string chain_of_sums(int n) {
    GrowingProgram program;
    for (int i = 0; i <= n; ++i) program.input(fmt::format("x{}", i), "6, 8");
    std::string last = "x0";
    for (int i = 1; i <= n; ++i) {
        program.sum(fmt::format("s{}", i), last, fmt::format("x{}", i));
        last = fmt::format("s{}", i);
    }
    return program.text({last});
}

/// One map that adds all inputs.
inline std::string sum_in_one_body(int n) {
    GrowingProgram program;
    std::vector<std::string> inputs, lines = {"op add(i: 6, j: 8)"}, reads;
    for (int i = 0; i < n; ++i) {
        inputs.push_back(fmt::format("x{}", i));
        reads.push_back(fmt::format("A{}", i));
        program.input(inputs.back(), "6, 8");
        lines.push_back(fmt::format("in {} f32[i, j]", reads.back()));
    }
    lines.push_back(fmt::format("out Y f32[i, j] = {}", fmt::join(reads, " + ")));
    program.add("y", "6, 8", inputs, lines);
    return program.text({"y"});
}

/// Maps of one input, and their sum.
inline std::string fan_of_maps(int n) {
    GrowingProgram program;
    program.input("x", "6, 8");
    for (int i = 0; i < n; ++i) program.map(fmt::format("v{}", i), "x", fmt::format("X * {} + 1", i + 2));
    std::string last = "v0";
    for (int i = 1; i < n; ++i) {
        program.sum(fmt::format("s{}", i), last, fmt::format("v{}", i));
        last = fmt::format("s{}", i);
    }
    return program.text({last});
}

/// Products of one input with constants.
inline std::string fan_of_products(int n) {
    GrowingProgram program;
    program.input("x", "4, 16");
    std::vector<std::string> outputs;
    for (int i = 0; i < n; ++i) {
        outputs.push_back(fmt::format("y{}", i));
        program.constant(fmt::format("w{}", i), "8, 16");
        program.add(outputs.back(), "4, 8", {"x", fmt::format("w{}", i)},
                    {"op matmul(m: 4, n: 8, k*: 16)", "in X f32[m, k]", "in W f32[n, k]",
                     "out Y f32[m, n] = sum(X * W)"});
    }
    return program.text(outputs);
}

/// Transposes and maps, one after the other.
inline std::string chain_of_transposes(int n) {
    GrowingProgram program;
    program.input("x", "6, 8");
    std::string last = "x";
    for (int i = 0; i < n; ++i) {
        const std::string name = fmt::format("v{}", i);
        const int rows = i % 2 == 0 ? 8 : 6;
        program.add(name, fmt::format("{}, {}", rows, 14 - rows), {last},
                    {fmt::format("op transpose(i: {}, j: {})", rows, 14 - rows), "in X f32[j, i]",
                     "out Y f32[i, j] = X"});
        last = name;
        if (i % 4 != 3) continue;
        program.map(name + "m", last, fmt::format("X * {}", i));
        last = name + "m";
    }
    return program.text({last});
}

/// Eight values; each of the next layer reads two of them.
inline std::string grid_of_maps(int n) {
    GrowingProgram program;
    std::vector<std::string> layer;
    for (int i = 0; i < 8; ++i) {
        layer.push_back(fmt::format("x{}", i));
        program.input(layer.back(), "6, 8");
    }
    for (int depth = 0; depth < n / 8; ++depth) {
        std::vector<std::string> next;
        for (size_t i = 0; i < layer.size(); ++i) {
            next.push_back(fmt::format("v{}_{}", depth, i));
            program.sum(next.back(), layer[i], layer[(i + 1) % layer.size()]);
        }
        layer = std::move(next);
    }
    return program.text(layer);
}

struct GrowingKind {
    const char* name;
    std::function<std::string(int)> text;  ///< with about so many operators, or operands of one
};

inline std::vector<GrowingKind> growing_kinds() {
    return {{"chain of maps", chain_of_maps},
            {"chain of norms", chain_of_norms},
            {"chain of sums", chain_of_sums},
            {"sum in one body", sum_in_one_body},
            {"fan of maps", fan_of_maps},
            {"fan of products", fan_of_products},
            {"chain of transposes", chain_of_transposes},
            {"grid of maps", grid_of_maps}};
}

}  // namespace tessera::testing
