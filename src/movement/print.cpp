// The loops of a program as indented text: what a person reads in --dump to see every load, store and call.
// Stores are written as assignments, groups of lanes as `by 16`.
#include <string>

#include "movement/program.h"
#include "support/error.h"

namespace tessera {
namespace {

std::string text(const Address& address) {
    return fmt::format("{}[{}]", address.buffer, address.offset.text());
}

std::string with_stride(int64_t stride) {
    return stride == 0 ? "" : stride == 1 ? " lanes" : fmt::format(" lanes by {}", stride);
}

std::string text(const ValueExpr& value) {
    struct Visit {
        std::string operator()(const Number& n) const { return fmt::format("{}", n.value); }
        std::string operator()(const Infinity&) const { return "inf"; }
        std::string operator()(const Integer& i) const {
            return "int(" + i.value.text() + with_stride(i.lane_stride) + ")";
        }
        std::string operator()(const Load& load) const {
            std::string out = "load " + text(load.from) + with_stride(load.lane_stride);
            for (const Load::Guard& g : load.guards)
                out += fmt::format(" if 0 <= {} < {}", g.coordinate.text(), g.extent.text());
            return "(" + out + ")";
        }
        std::string operator()(const AccumulatorRef& a) const {
            return a.fold_lanes ? "fold(" + a.name + ")" : a.name;
        }
        std::string operator()(const ApplyValue& call) const {
            std::string arguments;
            for (const ValuePtr& a : call.arguments) arguments += (arguments.empty() ? "" : ", ") + text(*a);
            return fmt::format("{}({})", name(call.function), arguments);
        }
        std::string operator()(const RoundValue& rounded) const {
            return fmt::format("{}({})", name(rounded.to), text(*rounded.argument));
        }
    };
    return std::visit(Visit{}, value.node);
}

std::string text(const Factor& factor) {
    if (const auto* strided = std::get_if<StridedFactor>(&factor))
        return fmt::format("{} by ({}, {})", text(strided->start), strided->outer.text(),
                           strided->inner.text());
    const auto& computed = std::get<ComputedFactor>(factor);
    return fmt::format("({}, {}) -> {}", computed.outer.name, computed.inner.name, text(*computed.value));
}

class ProgramText {
public:
    void body(const Body& statements) {
        ++depth_;
        for (const Statement& s : statements) std::visit([&](const auto& node) { add(node); }, s.node);
        --depth_;
    }
    void line(const std::string& content) {
        out_ += std::string(static_cast<size_t>(depth_) * 2, ' ') + content + "\n";
    }
    std::string take() { return std::move(out_); }

private:
    void add(const For& loop) {
        line(fmt::format("for {} in {} .. {} by {}", loop.variable.name, loop.begin.text(), loop.end.text(),
                         loop.step));
        body(loop.body);
    }
    void add(const Let& let) { line(fmt::format("let {} = {}", let.variable.name, let.value.text())); }
    void add(const VectorFor& loop) {
        line(fmt::format("for lanes {} in {} .. {} by {}", loop.variable.name, loop.begin.text(),
                         loop.end.text(), loop.lanes));
        body(loop.body);
    }
    void add(const If& branch) {
        line("if " + text(*branch.condition));
        body(branch.body);
    }
    void add(const Store& store) {
        line(fmt::format("store {}{} = {}", text(store.to), with_stride(store.lane_stride),
                         text(*store.value)));
    }
    void add(const Declare& a) {
        line(fmt::format("accumulate {} by {} x {}", a.name, name(a.monoid), a.lanes));
    }
    void add(const Accumulate& a) {
        line(fmt::format("{} <- {}{}", a.name, text(*a.value),
                         a.condition ? " if " + text(*a.condition) : ""));
    }
    static std::string ahead(int64_t bytes) { return bytes == 0 ? "" : fmt::format(" prefetch {}", bytes); }
    static std::string streams(int64_t count) {
        return count == 1 ? "" : fmt::format(" in {} streams", count);
    }
    static std::string panels(int64_t blocks) {
        return blocks == 0 ? "" : fmt::format(" panels for {} blocks", blocks);
    }
    void add(const ContractCall& c) {
        line(fmt::format("contract {}x{}x{}{}{}{} m={} n={} k={} a={} by ({}, {}) b={} c={} by ({}, {}){}{}",
                         c.rows, c.groups, c.lanes, c.k_lanes == 1 ? "" : fmt::format("x{}", c.k_lanes),
                         c.partial_sums == 1 ? "" : fmt::format(" partial sums {}", c.partial_sums),
                         c.dot ? " dot" : "", c.m.text(), c.n.text(), c.k.text(), text(c.a), c.a_m.text(),
                         c.a_k.text(), text(c.b), text(c.c), c.c_m.text(), c.c_group.text(),
                         c.accumulate ? " accumulate" : "", c.b_is_padded ? " padded" : "") +
             ahead(c.prefetch) + streams(c.streams) + panels(c.panel_blocks));
    }
    std::string terms(const BlockContractCall& c) const {
        if (c.a.size() == 1) return text(c.a.front());
        return fmt::format("{} * {} + {}", text(c.a[0]), c.radix, text(c.a[1]));
    }
    std::string folds(const std::optional<BlockContractCall::Fold>& fold) const {
        if (!fold) return "";
        const std::string integer = fold->integer ? text(Factor(*fold->integer)) + " * " : "";
        return fmt::format(" = {}{} each {}", integer, text(Factor(fold->rest)), fold->block);
    }
    void add(const BlockContractCall& c) {
        const std::string tile =
            c.depth == 0
                ? fmt::format("contract_blocks {}x{}x{}", c.rows, c.groups, c.lanes)
                : fmt::format("contract_block_tiles {} of {}x{}x{}", c.groups, c.tile_rows, c.lanes, c.depth);
        line(fmt::format("{} blocks of {} m={} n={} k={} a={} by {} scale={} by ({}, {} each {}) "
                         "b={} + {} coefficient={}{}{} c={} by ({}, {}){}",
                         tile, c.block, c.m.text(), c.n.text(), c.k.text(), terms(c), c.a_m.text(),
                         text(c.a_scale), c.scale_m.text(), c.scale_block.text(), c.a_block,
                         text(Factor(c.b)), c.zero, text(Factor(c.coefficient)), folds(c.fold),
                         c.offset ? " offset=" + text(Factor(*c.offset)) : "", text(c.c), c.c_m.text(),
                         c.c_group.text(), c.accumulate ? " accumulate" : "") +
             ahead(c.prefetch) + streams(c.streams) + panels(c.panel_blocks));
    }
    void add(const TileContractCall& c) {
        line(fmt::format("contract_tiles {}x{} of {}x{}x{} m={} n={} k={} a={} by {} b={} c={} by ({}, {}){}",
                         c.rows, c.groups, c.tile_rows, c.lanes, c.depth, c.m.text(), c.n.text(), c.k.text(),
                         text(c.a), c.a_m.text(), text(c.b), text(c.c), c.c_m.text(), c.c_group.text(),
                         c.accumulate ? " accumulate" : "") +
             (c.is_in_pairs ? "" : " pairs made"));
    }
    void add(const DotCall& c) {
        line(fmt::format("dot {}x{}x{} m={} n={} k={} a={} by ({}, {}) b={} c={} by ({}, {}){}", c.rows,
                         c.columns, c.lanes, c.m.text(), c.n.text(), c.k.text(), text(c.a), c.a_m.text(),
                         c.a_group.text(), text(c.b), text(c.c), c.c_m.text(), c.c_n.text(),
                         c.accumulate ? " accumulate" : ""));
    }
    void add(const StreamCall& c) {
        line(fmt::format("stream{} {}x{}x{} m={} s={} d={} scores={} by {} v={} max={} sum={} "
                         "result={} by ({}, {})",
                         c.depth == 0 ? "" : fmt::format("_tiles {}x{} of", c.tile_rows, c.depth), c.rows,
                         c.groups, c.lanes, c.m.text(), c.s.text(), c.d.text(), c.scores, c.scores_stride,
                         text(c.v), text(c.max), text(c.sum), text(c.result), c.result_m.text(),
                         c.result_group.text()) +
             (c.weights == ElementType::kF32 ? "" : fmt::format(" weights {}", name(c.weights))) +
             (c.dot ? " dot" : "") + ahead(c.prefetch) + panels(c.panel_blocks));
    }
    void add(const LocalTile& tile) { line(fmt::format("tile {} x {}", tile.name, tile.elements)); }
    void add(const Fill& fill) {
        line(fmt::format("fill {} x {} = {}", text(fill.to), fill.count.text(), fill.value));
    }

    std::string out_;
    int depth_ = 0;
};

const char* name_of(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::kInput:
            return "input";
        case MemoryKind::kOutput:
            return "output";
        case MemoryKind::kConstant:
            return "constant";
        case MemoryKind::kState:
            return "state";
        case MemoryKind::kArena:
            return "arena";
    }
    return "";
}

}  // namespace

std::string print(const Program& program) {
    ProgramText out;
    out.line(fmt::format("program {} workers {} arena {} bytes", program.specialisation, program.workers,
                         program.arena_bytes));
    for (const Variable& s : program.symbols)
        out.line(fmt::format("symbol {} in {}..{}", s.name, s.bounds.low, s.bounds.high));
    for (const ProgramBlock& block : program.blocks) {
        out.line(fmt::format("block {} x {}", block.name, block.repeat));
        for (const Kernel& kernel : block.kernels) {
            if (kernel.barrier) out.line("barrier");
            out.line(
                fmt::format("kernel {}{}: {}", kernel.name, kernel.alone ? " alone" : "", kernel.comment));
            for (const ProgramBuffer& b : kernel.buffers) {
                out.line(fmt::format(
                    "  {} {} {} at {}{}{}", b.is_written ? "writes" : "reads", name_of(b.memory), b.name,
                    b.position, b.repetition_stride == Index(0) ? "" : " by " + b.repetition_stride.text(),
                    b.memory == MemoryKind::kArena
                        ? fmt::format(
                              " ({} bytes{})", b.bytes,
                              b.worker_stride > 0 ? fmt::format(", {} a worker", b.worker_stride) : "")
                        : ""));
            }
            out.body(kernel.body);
        }
    }
    return out.take();
}

}  // namespace tessera
