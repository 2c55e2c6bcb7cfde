#include "distribution/random_graph.h"

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include <fmt/core.h>

namespace tessera::distribution {
namespace {

struct Drawn {
    std::string name;
    std::string type;
    std::vector<int64_t> shape;
    bool is_result;
    bool is_read;
};

class RandomGraph {
public:
    RandomGraph(uint64_t seed, const RandomGraphOptions& options) : random_(seed) {
        for (int l = 0; l < options.levels; ++l) counts_.push_back(pick<int64_t>({2, 2, 2, 3, 4}));
        const std::vector<std::function<void()>> kinds = {
            [&] { product(); },   [&] { map(); },     [&] { shared_row(); }, [&] { reduction(); },
            [&] { transpose(); }, [&] { gather(); },  [&] { window(); },     [&] { grouped(); },
            [&] { causal(); },    [&] { softmax(); }, [&] { sum_of_two(); }};
        const size_t operators = 1 + below(static_cast<size_t>(options.most_operators));
        for (size_t o = 0; o < operators; ++o) kinds[below(kinds.size())]();
    }

    std::string text() {
        std::string all = operators_;
        for (const int64_t count : counts_)
            all += fmt::format("devices {} alpha {} beta {}\n", count,
                               pick<std::string>({"0", "1e-8", "3e-8", "1e-7"}),
                               pick<std::string>({"1e-10", "1e-9", "3e-9"}));
        all += fmt::format("compute flops {} bytes {}\n", pick<std::string>({"1e9", "4e9"}),
                           pick<std::string>({"1e9", "5e8"}));
        all += "memory unlimited\n";
        std::string constants;
        std::string inputs;
        std::string outputs;
        for (const Drawn& value : values_) {
            if (value.is_result) {
                if (!value.is_read || below(6) == 0)
                    outputs += fmt::format("output {}{}\n", value.name, form(value.shape));
            } else if (below(3) > 0) {
                constants += (constants.empty() ? "constant " : ", ") + value.name;
            } else {
                inputs += fmt::format("input {}{}\n", value.name, form(value.shape));
            }
        }
        return all + constants + (constants.empty() ? "" : "\n") + inputs + outputs + fills_;
    }

private:
    size_t below(size_t n) { return random_() % n; }
    template <typename T>
    T pick(const std::vector<T>& of) {
        return of[below(of.size())];
    }
    int64_t extent() { return pick<int64_t>({2, 4, 4, 6}); }
    std::string type() { return pick<std::string>({"f32", "f32", "f16", "bf16"}); }

    std::string form(std::vector<int64_t> shape) {
        std::string entries;
        for (const int64_t count : counts_) {
            const size_t axis = below(shape.size() + 1);
            const bool splits = axis < shape.size() && shape[axis] % count == 0;
            entries += splits ? fmt::format(" S({})", axis) : " B";
            if (splits) shape[axis] /= count;
        }
        return entries;
    }

    size_t add(std::vector<int64_t> shape, const std::string& type, bool is_result) {
        values_.push_back({fmt::format("{}{}", is_result ? "R" : "W", values_.size()), type, std::move(shape),
                           is_result, !is_result});
        return values_.size() - 1;
    }

    // A value of this rank that is there, or a new one.
    size_t operand(size_t rank) {
        std::vector<size_t> found;
        for (size_t v = 0; v < values_.size(); ++v)
            if (values_[v].shape.size() == rank && values_[v].type[0] != 'i') found.push_back(v);
        if (!found.empty() && below(4) > 0) {
            const size_t v = pick(found);
            values_[v].is_read = true;
            return v;
        }
        std::vector<int64_t> shape;
        for (size_t a = 0; a < rank; ++a) shape.push_back(extent());
        return add(shape, type(), false);
    }

    std::string decl(size_t v, const std::string& map, bool with_shape = false) const {
        const Drawn& value = values_[v];
        std::string text = fmt::format("{} {}[{}]", value.name, value.type, map);
        if (!with_shape) return text;
        text += " of [";
        for (size_t a = 0; a < value.shape.size(); ++a)
            text += fmt::format("{}{}", a == 0 ? "" : ", ", value.shape[a]);
        return text + "]";
    }
    const std::string& name(size_t v) const { return values_[v].name; }

    void emit(const std::string& iterators, const std::string& operands, const std::string& result,
              const std::string& body, const std::string& index = "", const std::string& where = "") {
        operators_ += fmt::format("op o{}({})\n", ++count_, iterators);
        if (!index.empty()) operators_ += "index " + index + "\n";
        operators_ += fmt::format("in {}\nout {} = {}\n", operands, result, body);
        if (!where.empty()) operators_ += "where " + where + "\n";
        operators_ += "\n";
    }

    std::string after(const std::string& fold) {
        return pick<std::string>({fold, fold, fold + " * 0.5", "max(" + fold + ", 0)", "tanh(" + fold + ")"});
    }

    void product() {
        const size_t x = operand(2);
        const std::vector<int64_t> shape = values_[x].shape;
        const int64_t n = extent();
        const size_t w = add({shape[1], n}, type(), false);
        const size_t y = add({shape[0], n}, type(), true);
        emit(fmt::format("m: {}, n: {}, k*: {}", shape[0], n, shape[1]),
             decl(x, "m, k") + ", " + decl(w, "k, n"), decl(y, "m, n"),
             after(fmt::format("sum({} * {})", name(x), name(w))));
    }
    void map() {
        const size_t x = operand(1 + below(2));
        const std::vector<int64_t> shape = values_[x].shape;
        const std::string at = shape.size() == 1 ? "a" : "a, b";
        const size_t y = add(shape, type(), true);
        emit(shape.size() == 1 ? fmt::format("a: {}", shape[0])
                               : fmt::format("a: {}, b: {}", shape[0], shape[1]),
             decl(x, at), decl(y, at),
             pick<std::string>({name(x) + " * 0.5", "exp(" + name(x) + ")", name(x) + " + 1"}));
    }
    void shared_row() {
        const size_t x = operand(2);
        const std::vector<int64_t> shape = values_[x].shape;
        const size_t r = add({shape[1]}, type(), false);
        const size_t y = add(shape, type(), true);
        emit(fmt::format("a: {}, b: {}", shape[0], shape[1]), decl(x, "a, b") + ", " + decl(r, "b"),
             decl(y, "a, b"), fmt::format("{} * {}", name(x), name(r)));
    }
    void sum_of_two() {
        const size_t x = operand(2);
        const std::vector<int64_t> shape = values_[x].shape;
        size_t z = x;
        for (size_t v = 0; v < values_.size(); ++v)
            if (v != x && values_[v].shape == shape && values_[v].type[0] != 'i') z = v;
        if (z == x) z = add(shape, type(), false);
        values_[z].is_read = true;
        const size_t y = add(shape, type(), true);
        emit(fmt::format("a: {}, b: {}", shape[0], shape[1]), decl(x, "a, b") + ", " + decl(z, "a, b"),
             decl(y, "a, b"), fmt::format("{} + {}", name(x), name(z)));
    }
    void reduction() {
        const size_t x = operand(2);
        const std::vector<int64_t> shape = values_[x].shape;
        const bool rows = below(2) == 0;
        const size_t y = add({shape[rows ? 0 : 1]}, type(), true);
        emit(fmt::format("a{}: {}, b{}: {}", rows ? "" : "*", shape[0], rows ? "*" : "", shape[1]),
             decl(x, "a, b"), decl(y, rows ? "a" : "b"),
             after(fmt::format("{}({})", pick<std::string>({"sum", "max", "min", "prod"}), name(x))));
    }
    void transpose() {
        const size_t x = operand(2);
        const std::vector<int64_t> shape = values_[x].shape;
        const size_t y = add({shape[1], shape[0]}, type(), true);
        emit(fmt::format("a: {}, b: {}", shape[0], shape[1]), decl(x, "a, b"), decl(y, "b, a"), name(x));
    }
    void gather() {
        const size_t x = operand(2);
        const std::vector<int64_t> shape = values_[x].shape;
        const int64_t n = extent();
        const size_t i = add({n}, "i32", false);
        fills_ += fmt::format("fill {}[i] = (3 * i + {}) mod {}\n", name(i), below(3), shape[0]);
        const size_t y = add({n, shape[1]}, type(), true);
        emit(fmt::format("t: {}, d: {}", n, shape[1]), decl(x, name(i) + "[t], d", true), decl(y, "t, d"),
             name(x), decl(i, "t"));
    }
    void window() {
        const size_t x = operand(1);
        const int64_t n = values_[x].shape[0];
        const size_t y = add({n}, type(), true);
        emit(fmt::format("a: {}, j*: 3", n), decl(x, "a + j - 1", true), decl(y, "a"),
             fmt::format("{}({})", pick<std::string>({"sum", "max"}), name(x)));
    }
    void grouped() {
        const size_t x = operand(2);
        const std::vector<int64_t> shape = values_[x].shape;
        const size_t q = add({shape[0] * 2, shape[1]}, type(), false);
        const size_t y = add({shape[0] * 2}, type(), true);
        emit(fmt::format("h: {}, e*: {}", shape[0] * 2, shape[1]),
             decl(x, "h div 2, e") + ", " + decl(q, "h, e"), decl(y, "h"),
             fmt::format("sum({} * {})", name(x), name(q)));
    }
    void causal() {
        const size_t x = operand(2);
        const std::vector<int64_t> shape = values_[x].shape;
        const size_t y = add({shape[0]}, type(), true);
        emit(fmt::format("t: {}, s*: {}", shape[0], shape[1]), decl(x, "t, s"), decl(y, "t"),
             after(fmt::format("{}({})", pick<std::string>({"sum", "max"}), name(x))), "", "s <= t");
    }
    void softmax() {
        const size_t p = operand(2);
        const std::vector<int64_t> shape = values_[p].shape;
        const size_t v = add({shape[1], 2}, type(), false);
        const size_t m = add({shape[0]}, "f32", true);
        const size_t l = add({shape[0]}, "f32", true);
        const size_t a = add({shape[0], 2}, "f32", true);
        emit(fmt::format("q: {}, e: 2, s*: {}", shape[0], shape[1]), decl(p, "q, s") + ", " + decl(v, "s, e"),
             decl(m, "q") + ", " + decl(l, "q") + ", " + decl(a, "q, e"),
             fmt::format("softmax_sum({}, {})", name(p), name(v)));
    }

    std::mt19937_64 random_;
    std::vector<int64_t> counts_;
    std::vector<Drawn> values_;
    std::string operators_;
    std::string fills_;
    int count_ = 0;
};

}  // namespace

std::string random_graph_text(uint64_t seed, const RandomGraphOptions& options) {
    return RandomGraph(seed, options).text();
}

}  // namespace tessera::distribution
