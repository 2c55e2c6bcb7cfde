#include "codegen/cpp/emit.h"

#include <algorithm>

#include "codegen/cpp/value.h"
#include "movement/storage.h"
#include "support/error.h"

namespace tessera::cpp {
namespace {

class KernelText {
public:
    explicit KernelText(std::string& out) : out_(out) {}

    void body(const Body& statements) {
        for (const Statement& s : statements) std::visit([&](const auto& node) { emit(node); }, s.node);
    }

    void line(const std::string& text) {
        out_ += std::string(static_cast<size_t>(depth_) * 4, ' ') + text + "\n";
    }
    void indent() { ++depth_; }
    void dedent() { --depth_; }

private:
    void emit(const For& loop) {
        const std::string& v = loop.variable.name;
        line(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {3}) {{", v, loop.begin.text(), loop.end.text(),
                         loop.step == 1 ? "++" + v : fmt::format("{} += {}", v, loop.step)));
        nested(loop.body);
        line("}");
    }

    void emit(const Let& let) {
        line(fmt::format("const int64_t {} = {};", let.variable.name, let.value.text()));
    }

    /// Whole groups, then the partial one: a constant extent decides at once which of them there are.
    void emit(const VectorFor& loop) {
        const ValueContext before = context_;
        const std::string& v = loop.variable.name;
        if (loop.lanes == 1) {
            emit(For{loop.variable, loop.begin, loop.end, 1, loop.body});
            return;
        }
        context_.lanes = loop.lanes;
        const auto extent = (loop.end - loop.begin).as_constant();
        const std::string whole = fmt::format("ntt::Int<{}>{{}}", loop.lanes);
        if (extent && *extent % loop.lanes == 0) {
            context_.valid = whole;
            line(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3}) {{", v, loop.begin.text(),
                             loop.end.text(), loop.lanes));
            nested(loop.body);
            line("}");
        } else {
            context_.valid = v + "_lanes";
            line("{");
            indent();
            line(fmt::format(
                "const auto group = [&]([[maybe_unused]] const int64_t {0}, const auto {0}_lanes) {{", v));
            nested(loop.body);
            line("};");
            line(fmt::format("int64_t {} = {};", v, loop.begin.text()));
            line(fmt::format("for (; {0} + {1} <= {2}; {0} += {1}) group({0}, {3});", v, loop.lanes,
                             loop.end.text(), whole));
            line(fmt::format("if ({0} < {1}) group({0}, {1} - {0});", v, loop.end.text()));
            dedent();
            line("}");
        }
        context_ = before;
    }

    void emit(const If& branch) {
        line(fmt::format("if ({}) {{", condition_text(*branch.condition, context_).text));
        nested(branch.body);
        line("}");
    }

    void emit(const Store& store) {
        if (context_.lanes == 1 || store.lane_stride == 0) {
            const std::string value = float_text(*store.value, context_, false);
            line(store.to.element == ElementType::kF32
                     ? fmt::format("{}[{}] = {};", store.to.buffer, store.to.offset.text(), value)
                     : fmt::format("ntt::set_element({}, {}, {});", store.to.buffer, store.to.offset.text(),
                                   value));
            return;
        }
        const std::string value = float_text(*store.value, context_, true);
        if (store.lane_stride == 1) {
            line(fmt::format("ntt::store_group({}, {}, {});", address_text(store.to), value, context_.valid));
        } else {
            line(fmt::format("ntt::store_strided_group({}, {}, {}, {});", address_text(store.to),
                             store.lane_stride, value, context_.valid));
        }
    }

    void emit(const Declare& accumulator) {
        context_.accumulators[accumulator.name] = accumulator;
        ValueContext own;
        own.lanes = accumulator.lanes;
        const std::string start = float_literal(identity(accumulator.monoid));
        line(fmt::format(
            "{} {} = {};", own.vector(), accumulator.name,
            accumulator.lanes == 1 ? start : fmt::format("ntt::broadcast<{}>({})", own.vector(), start)));
    }

    void emit(const Accumulate& fold) {
        const bool has_lanes = context_.accumulators.at(fold.name).lanes > 1;
        const auto* product = std::get_if<ApplyValue>(&fold.value->node);
        std::string folded;
        if (fold.monoid == Monoid::kSum && product && product->function == Function::kMul) {
            folded =
                fmt::format("ntt::fma({}, {}, {})", float_text(*product->arguments[0], context_, has_lanes),
                            float_text(*product->arguments[1], context_, has_lanes), fold.name);
        } else {
            const std::string value = float_text(*fold.value, context_, has_lanes);
            switch (fold.monoid) {
                case Monoid::kSum:
                    folded = fold.name + " + " + value;
                    break;
                case Monoid::kProd:
                    folded = fold.name + " * " + value;
                    break;
                case Monoid::kMax:
                    folded = fmt::format("ntt::max({}, {})", fold.name, value);
                    break;
                case Monoid::kMin:
                    folded = fmt::format("ntt::min({}, {})", fold.name, value);
                    break;
                default:
                    TESSERA_CHECK(false);
                    break;
            }
        }
        if (fold.condition) {
            const Text condition = condition_text(*fold.condition, context_);
            folded = condition.has_lanes
                         ? fmt::format("ntt::select({}, {}, {})", condition.text, folded, fold.name)
                         : fmt::format("{} ? {} : {}", condition.text, folded, fold.name);
        }
        const bool may_be_partial =
            has_lanes && context_.lanes > 1 && context_.valid.find("Int<") == std::string::npos;
        line(may_be_partial
                 ? fmt::format("{0} = ntt::fold_group({1}, {2}, {0});", fold.name, context_.valid, folded)
                 : fmt::format("{} = {};", fold.name, folded));
    }

    void emit(const ContractCall& c) {
        line(
            fmt::format("ntt::contract<ntt::ContractTile{{.lanes = {}, .rows = {}, .groups = {}, .accumulate "
                        "= {}, .b_padded = {}}}>(",
                        c.lanes, c.rows, c.groups, c.accumulate, c.b_is_padded));
        line(fmt::format("    {}, {}, {},", extent(c.m), c.n.text(), c.k.text()));
        line(fmt::format("    ntt::rows({}, {}, {}),", address_text(c.a), c.a_m.text(), fixed(c.a_k)));
        factor(c.b, c.lanes, "lanes", "decoded");
        line(fmt::format("    ntt::result({}, {}, {}));", address_text(c.c), c.c_m.text(), fixed(c.c_group)));
    }

    void emit(const DotCall& c) {
        line(
            fmt::format("ntt::contract_k<ntt::ContractKTile{{.lanes = {}, .rows = {}, .columns = {}, "
                        ".accumulate = {}}}>(",
                        c.lanes, c.rows, c.columns, c.accumulate));
        line(fmt::format("    {}, {}, {},", extent(c.m), c.n.text(), c.k.text()));
        line(fmt::format("    ntt::k_lanes({}, {}, {}),", address_text(c.a), c.a_m.text(), fixed(c.a_group)));
        factor(c.b, c.lanes, "k_lanes", "decoded_k");
        line(fmt::format("    ntt::elements({}, {}, {}));", address_text(c.c), c.c_m.text(), fixed(c.c_n)));
    }

    /// The factor B of a product: an operand of NTT, or a function that computes a group of lanes.
    void factor(const Factor& b, int64_t lanes, const char* operand, const char* computed) {
        if (const auto* strided = std::get_if<StridedFactor>(&b)) {
            line(fmt::format("    ntt::{}({}, {}, {}),", operand, address_text(strided->start),
                             strided->outer.text(), fixed(strided->inner)));
            return;
        }
        const auto& function = std::get<ComputedFactor>(b);
        ValueContext inside = context_;
        inside.lanes = lanes;
        inside.valid = "valid";
        line(fmt::format(
            "    ntt::{}([&]([[maybe_unused]] const int64_t {}, [[maybe_unused]] const int64_t {}, "
            "[[maybe_unused]] const auto valid) __attribute__((always_inline)) {{",
            computed, function.outer.name, function.inner.name));
        line(fmt::format("        return {};", float_text(*function.value, inside, true)));
        line("    }),");
    }

    void emit(const StreamCall& c) {
        line(fmt::format("ntt::softmax_step<ntt::ContractTile{{.lanes = {}, .rows = {}, .groups = {}}}>(",
                         c.lanes, c.rows, c.groups));
        line(fmt::format("    {}, {}, {}, {}, {},", extent(c.m), c.s.text(), extent(c.d), c.scores,
                         fixed(Index(c.scores_stride))));
        line(fmt::format("    ntt::lanes({}, {}, {}),", address_text(c.v), fixed(c.v_group), c.v_s.text()));
        line(fmt::format("    ntt::softmax_state({}, {}, {}, {}, {}));", address_text(c.max),
                         address_text(c.sum), address_text(c.result), fixed(c.result_m),
                         fixed(c.result_group)));
    }

    void emit(const LocalTile& tile) {
        line(fmt::format("alignas(64) float {}[{}];", tile.name, tile.elements));
    }

    void emit(const Fill& fill) {
        const std::string at =
            (fill.to.offset + Index::variable({"at", {0, fill.count.bounds().high}})).text();
        const std::string value = float_literal(fill.value);
        line(fmt::format("for (int64_t at = 0; at < {}; ++at) {};", fill.count.text(),
                         fill.to.element == ElementType::kF32
                             ? fmt::format("{}[{}] = {}", fill.to.buffer, at, value)
                             : fmt::format("ntt::set_element({}, {}, {})", fill.to.buffer, at, value)));
    }

    /// A constant as a type, so that the kernel is made for it.
    static std::string fixed(const Index& value) {
        const auto constant = value.as_constant();
        return constant ? fmt::format("ntt::Int<{}>{{}}", *constant) : value.text();
    }
    /// One row is a kernel of its own; other extents share one.
    static std::string extent(const Index& value) {
        return value.as_constant() == 1 ? "ntt::Int<1>{}" : value.text();
    }

    void nested(const Body& statements) {
        indent();
        body(statements);
        dedent();
    }

    std::string& out_;
    int depth_ = 1;
    ValueContext context_;
};

/// The type of an element in memory; empty for those that are no bytes of their own.
std::string c_type(ElementType type) {
    switch (type) {
        case ElementType::kF32:
            return "float";
        case ElementType::kF16:
            return "ntt::f16";
        case ElementType::kBF16:
            return "ntt::bf16";
        case ElementType::kI32:
            return "int32_t";
        case ElementType::kI8:
            return "int8_t";
        case ElementType::kU8:
            return "uint8_t";
        default:
            return "";
    }
}

/// Where the buffer begins, of any pointer type.
std::string base_text(const ProgramBuffer& b) {
    switch (b.memory) {
        case MemoryKind::kInput:
            return fmt::format("step.inputs[{}]", b.position);
        case MemoryKind::kOutput:
            return fmt::format("step.outputs[{}]", b.position);
        case MemoryKind::kConstant:
            return fmt::format("step.constants + {}", b.position);
        case MemoryKind::kState:
            return fmt::format("step.states[{}]", b.position);
        case MemoryKind::kArena:
            return fmt::format("step.arena + {}", b.position);
    }
    return {};
}

std::string pointer_text(const ProgramBuffer& b) {
    const std::string constness = b.is_written ? "" : "const ";
    std::string base = base_text(b);
    if (b.worker_stride > 0) base += fmt::format(" + worker * {}", b.worker_stride);
    if (!(b.repetition_stride == Index(0)))
        base += fmt::format(" + repetition * ({})", b.repetition_stride.text());
    if (const std::string type = c_type(b.element); !type.empty()) {
        const bool is_untyped = b.memory == MemoryKind::kInput || b.memory == MemoryKind::kOutput;
        return fmt::format("[[maybe_unused]] {}{}* const {} = {}_cast<{}{}*>({});", constness, type, b.name,
                           is_untyped ? "static" : "reinterpret", constness, type, base);
    }
    TESSERA_CHECK(b.memory == MemoryKind::kConstant && !b.is_written, "{} of {}", b.name, name(b.element));
    return fmt::format("[[maybe_unused]] const ntt::{}<{}> {}({});",
                       range(b.element).low < 0 ? "SignedBits" : "Bits", bits(b.element), b.name, base);
}

std::string function_name(const Program& program, const ProgramBlock& block, const Kernel& kernel) {
    std::string block_name;
    for (const char c : block.name) block_name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return fmt::format("{}_{}_{}", program.specialisation, block_name, kernel.name);
}

void emit_kernel(std::string& out, const Program& program, const ProgramBlock& block, const Kernel& kernel) {
    out += fmt::format("// {}\n", kernel.comment);
    out += fmt::format("void {}(const TesseraStep& step, [[maybe_unused]] const int64_t repetition) {{\n",
                       function_name(program, block, kernel));
    KernelText text(out);
    for (size_t s = 0; s < program.symbols.size(); ++s) {
        const Variable& symbol = program.symbols[s];
        if (symbol.bounds.low == symbol.bounds.high) continue;
        text.line(fmt::format("[[maybe_unused]] const int64_t {} = step.symbols[{}];", symbol.name, s));
    }
    if (program.workers > 1)
        text.line(fmt::format("[[maybe_unused]] const int64_t {} = step.worker;", kWorker));
    for (const ProgramBuffer& buffer : kernel.buffers) text.line(pointer_text(buffer));
    text.body(kernel.body);
    out += "}\n\n";
}

}  // namespace

std::string entry_name(const Program& program) {
    return "tessera_step_" + program.specialisation;
}

std::string emit(const std::string& model, const std::vector<Program>& programs) {
    std::string out = fmt::format(
        "// {}: one function for each kernel of the plan, one entry for each specialisation.\n", model);
    out +=
        "#include \"tessera/ntt/group.h\"\n#include \"tessera/ntt/ntt.h\"\n#include \"tessera/step.h\"\n\n";
    out += "namespace ntt = tessera::ntt;\n\nnamespace {\n\n";
    for (const Program& program : programs) {
        for (const ProgramBlock& block : program.blocks) {
            for (const Kernel& kernel : block.kernels) emit_kernel(out, program, block, kernel);
        }
    }
    out += "}  // namespace\n";
    for (const Program& program : programs) {
        out += fmt::format("\nextern \"C\" void {}(const TesseraStep* step) {{\n", entry_name(program));
        for (const ProgramBlock& block : program.blocks) {
            const bool repeats = block.repeat > 1;
            if (repeats)
                out += fmt::format("    for (int64_t repetition = 0; repetition < {}; ++repetition) {{\n",
                                   block.repeat);
            const char* indent = repeats ? "        " : "    ";
            for (const Kernel& kernel : block.kernels) {
                if (kernel.barrier && program.workers > 1)
                    out += fmt::format("{}step->meet(step->team);\n", indent);
                out += fmt::format("{}{}{}(*step, {});\n", indent,
                                   kernel.alone && program.workers > 1 ? "if (step->worker == 0) " : "",
                                   function_name(program, block, kernel), repeats ? "repetition" : "0");
            }
            if (repeats) out += "    }\n";
        }
        out += "}\n";
    }
    return out;
}

}  // namespace tessera::cpp
