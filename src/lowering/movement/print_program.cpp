// A program as text, complete: parse_program.h reads it back. It is what --dump shows of the lowering.
//
//     program "decode" workers 2 arena 1024 {
//     symbol T: 1..1
//     block "layers" x 30 {
//       kernel q barrier
//         nest "t:1 { q[loops] }"
//         reads x: f32 input 0 bytes 256 of "x"
//         writes q: f32 arena 0 bytes 256 of "q"
//         writes "q" by "q": each, axis 0 in 16
//       {
//         for t: 0..63 from worker to 64 by 2 {
//           q[t] = (x[t] * 0.5)
//         }
//       }
//     }
//     }
#include <algorithm>
#include <string>

#include "lowering/movement/print_value.h"
#include "lowering/movement/program.h"
#include "support/error.h"

namespace tessera::movement {

const char* name(MemoryKind kind) {
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

namespace {

const char* fold_text(Monoid monoid) {
    switch (monoid) {
        case Monoid::kProd:
            return "*=";
        case Monoid::kMax:
            return "max=";
        case Monoid::kMin:
            return "min=";
        default:
            return "+=";
    }
}

bool is_plain(const FieldValue& field) {
    return std::holds_alternative<bool>(field.value) || std::holds_alternative<int64_t>(field.value) ||
           std::holds_alternative<ElementType>(field.value) || std::holds_alternative<Index>(field.value);
}

class ProgramText {
public:
    void block(const std::string& opening, const Body& statements) {
        line(opening + " {");
        ++depth_;
        for (const Statement& s : statements) add(s);
        --depth_;
        line("}");
    }
    void add(const Statement& statement) {
        std::visit([&](const auto& node) { add(node); }, statement.node);
    }
    void add(const Kernel& kernel) {
        line(fmt::format(
            "kernel {}{}{}{}", kernel.name, kernel.barrier ? " barrier" : "", kernel.alone ? " alone" : "",
            kernel.arithmetic == ElementType::kF32 ? "" : fmt::format(" in {}", name(kernel.arithmetic))));
        ++depth_;
        line("nest " + quoted(kernel.comment));
        for (const ProgramBuffer& b : kernel.buffers) add(b);
        for (const WorkerAccess& a : kernel.accesses) add(a);
        --depth_;
        block("", kernel.body);
    }
    void line(const std::string& content) {
        // A brace alone has no blank in front.
        out_ += std::string(static_cast<size_t>(depth_) * 2, ' ') +
                (content.starts_with(' ') ? content.substr(1) : content) + "\n";
    }
    void indent(int by) { depth_ += by; }
    std::string take() { return std::move(out_); }

private:
    void add(const ProgramBuffer& b) {
        std::string text = fmt::format("{} {}: {} {} {} bytes {}", b.is_written ? "writes" : "reads", b.name,
                                       name(b.element), name(b.memory), b.position, b.bytes);
        if (!(b.repetition_stride == Index(0))) text += " repetition " + print(b.repetition_stride);
        if (b.worker_stride != 0) text += fmt::format(" worker {}", b.worker_stride);
        line(text + " of " + quoted(b.value));
    }
    void add(const WorkerAccess& access) {
        std::string text =
            fmt::format("{} {} by {}: {}", access.is_write ? "writes" : "reads", quoted(access.value),
                        quoted(access.node), access.by_all ? "all" : "each");
        for (const WorkerPart& part : access.parts) {
            text += part.axis == kFirstWorker    ? fmt::format(", first in {}", part.group)
                    : part.axis == kCopyOfWorker ? fmt::format(", copy in {}", part.group)
                                                 : fmt::format(", axis {} in {}", part.axis, part.group);
        }
        line(text);
    }
    void add(const For& loop) {
        block(fmt::format("for {} from {} to {} by {}", printed_declaration(loop.variable), print(loop.begin),
                          print(loop.end), loop.step),
              loop.body);
    }
    void add(const Let& let) {
        line(fmt::format("let {} = {}", printed_declaration(let.variable), print(let.value)));
    }
    void add(const VectorFor& loop) {
        block(fmt::format("lanes {} from {} to {} by {}", printed_declaration(loop.variable),
                          print(loop.begin), print(loop.end), loop.lanes),
              loop.body);
    }
    void add(const If& branch) { block("if " + printed_value(*branch.condition), branch.body); }
    void add(const Store& store) {
        line(fmt::format("{} = {}", printed_element(store.to, store.lane_stride),
                         printed_value(*store.value)));
    }
    void add(const Declare& a) {
        line(fmt::format("declare {}{}: {}", a.name, a.lanes == 1 ? "" : fmt::format("[{}]", a.lanes),
                         name(a.monoid)));
    }
    void add(const Accumulate& a) {
        const std::string when = a.condition ? "if " + printed_value(*a.condition) + " " : "";
        line(fmt::format("{}{} {} {}", when, a.name, fold_text(a.monoid), printed_value(*a.value)));
    }
    void add(const Call& call) {
        const FieldRecord record = call.record(), defaults = call.kind().defaults();
        std::string text;
        line(std::string(call.kind().name) + " {");
        ++depth_;
        for (const NamedField& field : record) {
            if (std::find(defaults.begin(), defaults.end(), field) != defaults.end()) continue;
            if (!text.empty()) text += ",";
            if (!text.empty() && !is_plain(field.value)) {
                line(text);
                text.clear();
            }
            text += fmt::format("{}{} {}", text.empty() ? "" : " ", field.name, printed_field(field.value));
        }
        if (!text.empty()) line(text);
        --depth_;
        line("}");
    }
    void add(const LocalTile& tile) { line(fmt::format("tile {}: {}", tile.name, tile.elements)); }
    void add(const Fill& fill) {
        line(fmt::format("fill {} times {} = {}", printed_element(fill.to), print(fill.count),
                         printed_number({fill.value, false})));
    }

    std::string out_;
    int depth_ = 0;
};

}  // namespace

std::string printed_head(const Statement& statement) {
    ProgramText out;
    out.add(statement);
    const std::string text = out.take();
    const std::string head = text.substr(0, text.find('\n'));
    return head.ends_with(" {") ? head.substr(0, head.size() - 2) : head;
}

std::string print(const Program& program) {
    ProgramText out;
    out.line(fmt::format("program {} workers {} arena {} {{", quoted(program.specialisation), program.workers,
                         program.arena_bytes));
    for (const Variable& s : program.symbols) out.line("symbol " + printed_declaration(s));
    for (const ProgramBlock& block : program.blocks) {
        out.line(fmt::format("block {} x {} {{", quoted(block.name), block.repeat));
        out.indent(1);
        for (const Kernel& kernel : block.kernels) out.add(kernel);
        out.indent(-1);
        out.line("}");
    }
    out.line("}");
    return out.take();
}

}  // namespace tessera::movement
