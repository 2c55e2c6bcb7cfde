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

std::string text(const FieldRecord& record);

std::string text(const FieldValue& field) {
    struct Visit {
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(int64_t number) const { return fmt::format("{}", number); }
        std::string operator()(ElementType type) const { return std::string(name(type)); }
        std::string operator()(const Index& index) const { return index.text(); }
        std::string operator()(const Address& address) const { return text(address); }
        std::string operator()(const StridedFactor& b) const {
            return fmt::format("{} by ({}, {})", text(b.start), b.outer.text(), b.inner.text());
        }
        std::string operator()(const ComputedFactor& b) const {
            return fmt::format("({}, {}) -> {}", b.outer.name, b.inner.name, text(*b.value));
        }
        std::string operator()(const std::vector<FieldValue>& list) const {
            std::string out;
            for (const FieldValue& element : list) out += (out.empty() ? "" : ", ") + text(element);
            return "[" + out + "]";
        }
        std::string operator()(const FieldRecord& record) const { return "{" + text(record) + "}"; }
    };
    return std::visit(Visit{}, field.value);
}

std::string text(const FieldRecord& record) {
    std::string out;
    for (const NamedField& field : record)
        out += fmt::format("{}{}={}", out.empty() ? "" : ", ", field.name, text(field.value));
    return out;
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
    void add(const Call& call) { line(call.kind().name + (" " + text(call.record()))); }
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
