#include "spmd/exchanges.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ops/exchange.h"
#include "support/error.h"

// With K elements of axis a on each rank, and Z[r, ..] what rank r has:
//
//   all_gather      S(a) -> B     Y[.., r K + j, ..] = Z[r, .., j, ..]
//   all_reduce      P -> B        Y[..] = fold over r of Z[r, ..]
//   reduce_scatter  P -> S(a)     Y[.., j, ..] = fold over r of Z[r, .., rank K + j, ..]
//   all_to_all      S(a) -> S(b)  Y[.., r K + j, .., i, ..] = Z[r, .., j, .., rank L + i, ..]
//   slice           B -> S(a)     Y[.., j, ..] = X[.., rank K + j, ..]

namespace tessera::spmd {
namespace {

/// "[S(1)]" -> 1; -1 for B and P.
int split_axis_of(const std::string& form) {
    const size_t at = form.find("S(");
    return at == std::string::npos ? -1 : std::stoi(form.substr(at + 2));
}

/// "[P(max)]" -> "max"; empty for B and S.
std::string monoid_of(const std::string& form) {
    const size_t at = form.find("P(");
    return at == std::string::npos ? "" : form.substr(at + 2, form.find(')', at) - at - 2);
}

class Exchanges {
public:
    Exchanges(const Graph& local, int64_t rank, int64_t ranks) : made_(local), rank_(rank), ranks_(ranks) {
        for (const Value& value : made_.values) names_.insert(value.name);
    }

    Graph run() {
        for (Block& block : made_.blocks) {
            std::vector<Node> nodes;
            for (const Node& node : block.nodes)
                if (node.definition())
                    nodes.push_back(node);
                else
                    lower(node, nodes);
            block.nodes = std::move(nodes);
        }
        for (size_t b = 0; b < made_.blocks.size(); ++b) keep_in_place(b);
        return std::move(made_);
    }

private:
    const std::string& attribute(const Node& node, const char* name) const {
        return std::get<std::string>(std::get<Composite>(node.op).attributes.at(name));
    }

    std::string fresh(const std::string& wanted) {
        std::string name = wanted;
        for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
        return name;
    }

    /// Whether the operator reads of this tensor only the element that the same iteration writes.
    static bool may_replace(const Definition& definition, int tensor) {
        if (definition.monoid != Monoid::kNone || definition.where) return false;
        const std::vector<ExprPtr>& written =
            definition.tensors[static_cast<size_t>(definition.results().front())].map;
        return std::ranges::all_of(accesses(definition, tensor), [&](const std::vector<ExprPtr>& read) {
            return std::ranges::equal(read, written, [](const auto& a, const auto& b) { return same(a, b); });
        });
    }

    /// Whether the value can be made in the place of another one.
    bool comes_from(const Block& block, ValueId value, ValueId ancestor) const {
        if (value == ancestor) return true;
        for (const Node& node : block.nodes) {
            if (node.results.front() != value) continue;
            for (size_t o = 0; o < node.operands.size(); ++o)
                if (made_[node.operands[o]].type.shape == made_[value].type.shape &&
                    may_replace(*node.definition(), static_cast<int>(o)) &&
                    comes_from(block, node.operands[o], ancestor))
                    return true;
        }
        return false;
    }

    /// Repetitions overwrite what they carry. Where a box stands between, a copy does it.
    void keep_in_place(size_t b) {
        const Block& block = made_.blocks[b];
        if (block.repeat == 1 || !block.carried_in || !block.carried_out ||
            comes_from(block, *block.carried_out, *block.carried_in))
            return;
        const ValueId before = *block.carried_in, after = *block.carried_out;
        Value copy = made_[after];
        copy.name = fresh(copy.name + "_carried");
        std::vector<std::string> iterators, axes;
        for (size_t a = 0; a < copy.type.shape.size(); ++a) {
            axes.push_back(fmt::format("x{}", a));
            iterators.push_back(fmt::format("x{}: {}", a, ops::text(copy.type.shape[a])));
        }
        const std::string at = fmt::format("{}[{}]", name(copy.type.element), fmt::join(axes, ", "));
        const ValueId result{static_cast<int>(made_.values.size())};
        Node node{.name = copy.name,
                  .op = ops::define(
                      made_.symbols,
                      fmt::format("op carry({0})\nin  A {1}, X {1}\nout Y {1} = select(1 < 0, A, X)\n",
                                  fmt::join(iterators, ", "), at)),
                  .operands = {before, after},
                  .results = {result},
                  .previous = {}};
        made_.values.push_back(std::move(copy));
        made_.blocks[b].nodes.push_back(std::move(node));
        made_.blocks[b].carried_out = result;
        for (size_t later = b + 1; later < made_.blocks.size(); ++later) {
            Block& other = made_.blocks[later];
            if (other.carried_in == after) other.carried_in = result;
            for (Node& each : other.nodes) std::ranges::replace(each.operands, after, result);
        }
        std::ranges::replace(made_.outputs, after, result);
    }

    void lower(const Node& box, std::vector<Node>& nodes) {
        const std::string &from = attribute(box, "from"), &to = attribute(box, "to");
        const ValueId source = box.operands.front(), result = box.results.front();
        const int in = split_axis_of(from), out = split_axis_of(to);
        check_even(box, source, in, result, out);
        ValueId read = source;
        const bool is_slice = in < 0 && monoid_of(from).empty();
        if (!is_slice) {
            const TensorType& type = made_[source].type;
            Value gathered{.name = fresh(fmt::format("{}_parts", made_[source].name)),
                           .kind = ValueKind::kIntermediate,
                           .type = type,
                           .sources = {}};
            gathered.type.shape.insert(gathered.type.shape.begin(), Dim(ranks_));
            if (!is_integer(type.element) && type.element != ElementType::kF32)
                gathered.type.rounding = Rounding::kWeights;
            read = {static_cast<int>(made_.values.size())};
            nodes.push_back({.name = gathered.name,
                             .op = ops::exchange(made_.symbols, type, ranks_),
                             .operands = {source},
                             .results = {read},
                             .previous = {}});
            made_.values.push_back(std::move(gathered));
        }
        nodes.push_back({.name = box.name,
                         .op = taken(box, made_[result], in, out, is_slice, monoid_of(from)),
                         .operands = {read},
                         .results = {result},
                         .previous = {}});
    }

    void check_even(const Node& box, ValueId source, int in, ValueId result, int out) const {
        const auto is_even = [&](ValueId part, ValueId whole, int axis) {
            if (axis < 0) return true;
            const auto a = static_cast<size_t>(axis);
            const Dim &some = made_[part].type.shape[a], &all = made_[whole].type.shape[a];
            return some.is_constant() && some.factor * ranks_ == all.factor;
        };
        if (!is_even(source, result, in) || !is_even(result, source, out))
            throw Error(made_.name, box.name,
                        "exchanges parts of different sizes, which the run time cannot do yet",
                        "take a number of ranks that divides the axis");
    }

    /// What the rank takes of the source, or of what all have.
    DefinitionPtr taken(const Node& box, const Value& result, int in, int out, bool is_slice,
                        const std::string& monoid) const {
        std::vector<std::string> iterators, read, written, shape;
        const TensorType& source_type = made_[box.operands.front()].type;
        for (size_t a = 0; a < result.type.shape.size(); ++a) {
            const Dim& own = static_cast<int>(a) == in ? source_type.shape[a] : result.type.shape[a];
            const std::string x = fmt::format("x{}", a);
            iterators.push_back(fmt::format("{}: {}", x, ops::text(own)));
            read.push_back(static_cast<int>(a) == out ? offset(x, rank_ * own.factor) : x);
            written.push_back(static_cast<int>(a) == in ? fmt::format("r * {} + {}", own.factor, x) : x);
            shape.push_back(ops::text(result.type.shape[a]));
        }
        // The source's shape is that of what is read, but for the axis that this takes a part of.
        std::vector<std::string> source_shape;
        for (const Dim& dim : source_type.shape) source_shape.push_back(ops::text(dim));
        const std::string reduces = monoid.empty() ? "" : "*";
        if (!is_slice) {
            iterators.insert(iterators.begin(), fmt::format("r{}: {}", reduces, ranks_));
            read.insert(read.begin(), "r");
            source_shape.insert(source_shape.begin(), std::to_string(ranks_));
        }
        const std::string body = monoid.empty() ? "Z" : fmt::format("{}(Z)", monoid);
        return ops::define(
            made_.symbols,
            fmt::format("op {}({})\nin  Z {}[{}] of [{}]\nout Y {}[{}] of [{}] = {}\n",
                        std::get<Composite>(box.op).kind, fmt::join(iterators, ", "),
                        name(result.type.element), fmt::join(read, ", "), fmt::join(source_shape, ", "),
                        name(result.type.element), fmt::join(written, ", "), fmt::join(shape, ", "), body));
    }

    static std::string offset(const std::string& x, int64_t by) {
        return by == 0 ? x : fmt::format("{} + {}", x, by);
    }

    Graph made_;
    int64_t rank_, ranks_;
    std::set<std::string> names_;
};

}  // namespace

Graph with_exchanges(const Graph& local, int64_t rank, int64_t ranks) {
    return Exchanges(local, rank, ranks).run();
}

}  // namespace tessera::spmd
