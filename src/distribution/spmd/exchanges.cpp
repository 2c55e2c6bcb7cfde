#include "distribution/spmd/exchanges.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ir/facts/share.h"
#include "ir/ops/exchange.h"
#include "support/error.h"

// With K elements of axis a on each rank:
//
//   all_gather      S(a) -> B     Y[.., r K + j, ..] is what rank r has
//   all_reduce      P -> B        Z[r, ..] is what rank r has, Y[..] = fold over r of Z[r, ..]
//   reduce_scatter  P -> S(a)     Z[r, ..] is what rank r has for this one, Y[..] = fold over r of Z[r, ..]
//   all_to_all      S(a) -> S(b)  likewise, Y[.., r K + j, .., i, ..] = Z[r, .., j, .., i, ..]
//   slice           B -> S(a)     Y[.., j, ..] = X[.., start + j, ..]
//
// The parts of an axis are put in their places of the whole, also for an all_to_all of parts that differ in
// size or along one axis, of which each rank then takes its part. A sum that is scattered in such parts is
// gathered as for `all_reduce`.

namespace tessera::spmd {
namespace {

/// "[S(1)]" -> 1; -1 for B and P.
int split_axis_of(const std::string& form) {
    const size_t at = form.find("S(");
    return at == std::string::npos ? -1 : std::stoi(form.substr(at + 2));
}

/// "[S(1:64)]" -> 64.
int64_t grain_of(const std::string& form) {
    const size_t at = form.find(':');
    return at == std::string::npos ? 1 : std::stoll(form.substr(at + 1));
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

    /// True if each iteration reads of this tensor only the element that it writes.
    static bool may_replace(const Definition& definition, int tensor) {
        if (definition.monoid != Monoid::kNone || definition.where) return false;
        const std::vector<ExprPtr>& written =
            definition.tensors[static_cast<size_t>(definition.results().front())].map;
        return std::ranges::all_of(accesses(definition, tensor), [&](const std::vector<ExprPtr>& read) {
            return std::ranges::equal(read, written, [](const auto& a, const auto& b) { return same(a, b); });
        });
    }

    /// True if the value can be made in the place of another one.
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

    /// Repetitions overwrite what they carry. If a box stands between, a copy does it.
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
                      fmt::format("op carry({0})\nin  A {1}, X {1}\nout Y {1} = select(1 < 0, A, X)\n{2}",
                                  fmt::join(iterators, ", "), at, ops::arithmetic_line(copy.type.element))),
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

    /// The beginnings of the parts of an axis, then its end. @param extent of the whole axis
    std::vector<int64_t> starts_of(const std::string& form, int64_t extent) const {
        std::vector<int64_t> starts;
        for (int64_t r = 0; r < ranks_; ++r)
            starts.push_back(facts::part_of({0, extent}, ranks_, r, grain_of(form)).first);
        starts.push_back(extent);
        return starts;
    }

    static bool is_even(const std::vector<int64_t>& starts) {
        for (size_t r = 1; r < starts.size(); ++r)
            if (starts[r] - starts[r - 1] != starts[1]) return false;
        return true;
    }

    /// True if the bytes of an element of this axis are known.
    static bool has_constant_rows(const TensorType& type, int axis) {
        return std::all_of(type.shape.begin() + axis, type.shape.end(), std::mem_fn(&Dim::is_constant));
    }

    void lower(const Node& box, std::vector<Node>& nodes) {
        Taking taking{.box = box, .from = attribute(box, "from"), .to = attribute(box, "to")};
        const ValueId source = box.operands.front();
        const TensorType type = made_[source].type;
        const int in = split_axis_of(taking.from), out = split_axis_of(taking.to);
        const bool is_slice = in < 0 && monoid_of(taking.from).empty();
        if (in >= 0) taking.in = starts_of(taking.from, extent(box, "from_extent"));
        if (out >= 0) taking.out = starts_of(taking.to, extent(box, "to_extent"));
        taking.source = type;
        if (is_slice) return take(taking, source, nodes);
        if (in >= 0 && (!is_even(taking.in) || in == out || (out < 0 && has_constant_rows(type, in))))
            return place(taking, nodes);
        if (out >= 0 && is_even(taking.out)) {
            const DefinitionPtr definition = ops::transposed_exchange(made_.symbols, type, out, ranks_);
            taking.source.shape[static_cast<size_t>(out)] = Dim(taking.out[1]);
            taking.out.clear();  // what is read is this rank's
            taking.is_of_ranks = true;
            TensorType parts = taking.source;
            parts.shape.insert(parts.shape.begin(), Dim(ranks_));
            return take(taking, exchanged(source, definition, parts, nodes), nodes);
        }
        TensorType parts = type;
        parts.shape.insert(parts.shape.begin(), Dim(ranks_));
        taking.is_of_ranks = true;
        take(taking, exchanged(source, ops::exchange(made_.symbols, type, ranks_), parts, nodes), nodes);
    }

    struct Taking {
        const Node& box;
        const std::string &from, &to;
        std::vector<int64_t> in = {}, out = {};  ///< starts of the axes that are cut, of what is read
        TensorType source = {};                  ///< of what is read, without the axis of the ranks
        bool is_of_ranks = false;                ///< whether that has such an axis
    };

    static int64_t extent(const Node& box, const char* key) {
        return std::get<int64_t>(std::get<Composite>(box.op).attributes.at(key));
    }

    ValueId exchanged(ValueId source, DefinitionPtr definition, const TensorType& type,
                      std::vector<Node>& nodes) {
        Value gathered{.name = fresh(fmt::format("{}_parts", made_[source].name)),
                       .kind = ValueKind::kIntermediate,
                       .type = type,
                       .sources = {}};
        if (!is_integer(type.element) && type.element != ElementType::kF32)
            gathered.type.rounding = Rounding::kWeights;
        const ValueId parts{static_cast<int>(made_.values.size())};
        nodes.push_back({.name = gathered.name,
                         .op = std::move(definition),
                         .operands = {source},
                         .results = {parts},
                         .previous = {}});
        made_.values.push_back(std::move(gathered));
        return parts;
    }

    /// Puts the parts of all ranks in their places. If the result is cut, a rank then takes its own part.
    void place(Taking taking, std::vector<Node>& nodes) {
        const ValueId source = taking.box.operands.front(), result = taking.box.results.front();
        const int axis = split_axis_of(taking.from);
        const DefinitionPtr definition =
            ops::placed_exchange(made_.symbols, made_[source].type, axis, taking.in);
        if (taking.out.empty()) {
            nodes.push_back({.name = taking.box.name,
                             .op = definition,
                             .operands = {source},
                             .results = {result},
                             .previous = {}});
            return;
        }
        taking.source.shape[static_cast<size_t>(axis)] = Dim(taking.in.back());
        taking.in.clear();
        const ValueId whole = exchanged(source, definition, taking.source, nodes);
        take(taking, whole, nodes);
    }

    void take(const Taking& taking, ValueId read, std::vector<Node>& nodes) {
        nodes.push_back({.name = taking.box.name,
                         .op = taken(taking, made_[taking.box.results.front()]),
                         .operands = {read},
                         .results = taking.box.results,
                         .previous = {}});
    }

    /// The operator by which the rank takes its part of the source, or of the parts of all ranks.
    DefinitionPtr taken(const Taking& taking, const Value& result) const {
        std::vector<std::string> iterators, read, written, shape, source_shape;
        const int in = taking.in.empty() ? -1 : split_axis_of(taking.from);
        const int out = taking.out.empty() ? -1 : split_axis_of(taking.to);
        const std::string monoid = monoid_of(taking.from);
        for (size_t a = 0; a < result.type.shape.size(); ++a) {
            const Dim& own = static_cast<int>(a) == in ? taking.source.shape[a] : result.type.shape[a];
            const std::string x = fmt::format("x{}", a);
            iterators.push_back(fmt::format("{}: {}", x, ops::text(own)));
            read.push_back(static_cast<int>(a) == out ? offset(x, taking.out[static_cast<size_t>(rank_)])
                                                      : x);
            written.push_back(static_cast<int>(a) == in ? fmt::format("r * {} + {}", own.factor, x) : x);
            shape.push_back(ops::text(result.type.shape[a]));
            source_shape.push_back(ops::text(taking.source.shape[a]));
        }
        if (taking.is_of_ranks) {
            iterators.insert(iterators.begin(), fmt::format("r{}: {}", monoid.empty() ? "" : "*", ranks_));
            read.insert(read.begin(), "r");
            source_shape.insert(source_shape.begin(), std::to_string(ranks_));
        }
        const std::string body = monoid.empty() ? "Z" : fmt::format("{}(Z)", monoid);
        return ops::define(
            made_.symbols,
            fmt::format("op {}({})\nin  Z {}[{}] of [{}]\nout Y {}[{}] of [{}] = {}\n{}",
                        std::get<Composite>(taking.box.op).kind, fmt::join(iterators, ", "),
                        name(result.type.element), fmt::join(read, ", "), fmt::join(source_shape, ", "),
                        name(result.type.element), fmt::join(written, ", "), fmt::join(shape, ", "), body,
                        ops::arithmetic_line(result.type.element)));
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
