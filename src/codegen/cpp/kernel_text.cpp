#include "codegen/cpp/kernel_text.h"

#include "codegen/cpp/buffers.h"
#include "support/error.h"

namespace tessera::cpp {
namespace {

/// A constant as a type, so that the kernel is made for it.
std::string fixed(const Index& value) {
    const auto constant = value.as_constant();
    return constant ? fmt::format("ntt::Int<{}>{{}}", *constant) : value.text();
}
/// One row is a kernel of its own; other extents share one.
std::string extent(const Index& value) {
    return value.as_constant() == 1 ? "ntt::Int<1>{}" : value.text();
}
/// The lanes of the factor if they lie beside each other in memory, to be widened at most.
const Load* lanes_in_memory(const ComputedFactor& factor, int64_t lanes) {
    const auto* load = std::get_if<Load>(&factor.value->node);
    return load && lanes > 1 && load->lane_stride == 1 && load->guards.empty() ? load : nullptr;
}

/// A member of a tile; none where it is what it is otherwise.
std::string member(const char* name, int64_t value, int64_t otherwise = 0) {
    return value == otherwise ? "" : fmt::format(", .{} = {}", name, value);
}

}  // namespace

/// How NTT calls a factor B that is strided, that a function finds, and that a function computes.
struct KernelText::FactorForms {
    const char* strided;
    const char* found;  ///< null: it is computed
    const char* computed;
};
const KernelText::FactorForms KernelText::kLanes{"lanes", "lanes_at", "decoded"};
const KernelText::FactorForms KernelText::kLanePairs{"lane_pairs", nullptr, "decoded"};
const KernelText::FactorForms KernelText::kKLanes{"k_lanes", nullptr, "decoded_k"};

void KernelText::body(const Body& statements) {
    for (const Statement& s : statements) std::visit([&](const auto& node) { emit(node); }, s.node);
}

void KernelText::line(const std::string& text) {
    out_ += std::string(static_cast<size_t>(depth_) * 4, ' ') + text + "\n";
}

void KernelText::nested(const Body& statements) {
    ++depth_;
    body(statements);
    --depth_;
}

void KernelText::emit(const For& loop) {
    const std::string& v = loop.variable.name;
    line(fmt::format("for (int64_t {0} = {1}; {0} < {2}; {3}) {{", v, loop.begin.text(), loop.end.text(),
                     loop.step == 1 ? "++" + v : fmt::format("{} += {}", v, loop.step)));
    nested(loop.body);
    line("}");
}

void KernelText::emit(const Let& let) {
    line(fmt::format("const int64_t {} = {};", let.variable.name, let.value.text()));
}

/// Whole groups, then the partial one: a constant extent decides at once which of them there are.
void KernelText::emit(const VectorFor& loop) {
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
        ++depth_;
        line(fmt::format(
            "const auto group = [&]([[maybe_unused]] const int64_t {0}, const auto {0}_lanes) {{", v));
        nested(loop.body);
        line("};");
        line(fmt::format("int64_t {} = {};", v, loop.begin.text()));
        line(fmt::format("for (; {0} + {1} <= {2}; {0} += {1}) group({0}, {3});", v, loop.lanes,
                         loop.end.text(), whole));
        line(fmt::format("if ({0} < {1}) group({0}, {1} - {0});", v, loop.end.text()));
        --depth_;
        line("}");
    }
    context_ = before;
}

void KernelText::emit(const If& branch) {
    line(fmt::format("if ({}) {{", condition_text(*branch.condition, context_).text));
    nested(branch.body);
    line("}");
}

void KernelText::emit(const Store& store) {
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

void KernelText::emit(const Declare& accumulator) {
    context_.accumulators[accumulator.name] = accumulator;
    ValueContext own;
    own.lanes = accumulator.lanes;
    const std::string start = float_literal(identity(accumulator.monoid));
    line(fmt::format(
        "{} {} = {};", own.vector(), accumulator.name,
        accumulator.lanes == 1 ? start : fmt::format("ntt::broadcast<{}>({})", own.vector(), start)));
}

void KernelText::emit(const Accumulate& fold) {
    const bool has_lanes = context_.accumulators.at(fold.name).lanes > 1;
    const auto* product = std::get_if<ApplyValue>(&fold.value->node);
    std::string folded;
    if (fold.monoid == Monoid::kSum && product && product->function == Function::kMul) {
        folded = fmt::format("ntt::fma({}, {}, {})", float_text(*product->arguments[0], context_, has_lanes),
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

void KernelText::emit(const ContractCall& c) {
    line(
        fmt::format("ntt::contract<ntt::ContractTile{{.lanes = {}, .rows = {}, .groups = {}, .accumulate "
                    "= {}, .b_padded = {}{}{}{}{}{}}}>(",
                    c.lanes, c.rows, c.groups, c.accumulate, c.b_is_padded, member("prefetch", c.prefetch),
                    member("streams", c.streams, 1), c.dot ? ", .dot = true" : "",
                    member("partial_sums", c.partial_sums, 1), member("panel_blocks", c.panel_blocks)));
    line(fmt::format("    {}, {}, {},", extent(c.m), c.n.text(), c.k.text()));
    line(fmt::format("    ntt::rows({}, {}, {}),", address_text(c.a), c.a_m.text(), fixed(c.a_k)));
    factor(c.b, c.lanes, c.k_lanes == 2 ? kLanePairs : kLanes);
    line(fmt::format("    ntt::result({}, {}, {}));", address_text(c.c), c.c_m.text(), fixed(c.c_group)));
}

void KernelText::emit(const BlockContractCall& c) {
    const std::string tile =
        c.depth == 0
            ? fmt::format("contract_blocks<ntt::ContractBlocksTile{{.lanes = {}, .rows = {}", c.lanes, c.rows)
            : fmt::format(
                  "contract_block_tiles<ntt::ContractBlockTilesTile{{.tile_rows = {}, .lanes = {}, "
                  ".depth = {}",
                  c.tile_rows, c.lanes, c.depth);
    line(fmt::format(
        "ntt::{}, .groups = {}, .block = {}, .a_block = {}, .zero = {}, .accumulate = {}{}{}{}}}>(", tile,
        c.groups, c.block, c.a_block, c.zero, c.accumulate, member("prefetch", c.prefetch),
        member("streams", c.streams, 1), member("panel_blocks", c.panel_blocks)));
    line(fmt::format("    {}, {}, {},", extent(c.m), c.n.text(), c.k.text()));
    if (c.a.size() == 1) {
        line(fmt::format("    ntt::rows({}, {}, ntt::Int<1>{{}}),", address_text(c.a[0]), c.a_m.text()));
    } else {
        line(fmt::format("    ntt::row_terms<{}>({}, {}, {}),", c.radix, address_text(c.a[0]),
                         address_text(c.a[1]), c.a_m.text()));
    }
    line(fmt::format("    ntt::rows({}, {}, {}),", address_text(c.a_scale), c.scale_m.text(),
                     fixed(c.scale_block)));
    line(fmt::format("    ntt::lane_quads({}, {}, {}),", whole_address_text(c.b.start), c.b.outer.text(),
                     fixed(c.b.inner)));
    if (c.fold) line("    ntt::foldable(");
    factor(c.coefficient, c.lanes, kLanes);
    if (c.fold) {
        if (c.fold->integer) {
            factor(*c.fold->integer, c.lanes, kLanes);
            factor(c.fold->rest, c.lanes, kLanes);
        }
        line(fmt::format("    ntt::Int<{}>{{}}),", c.fold->block));
    }
    if (c.offset) {
        factor(*c.offset, c.lanes, kLanes);
    } else {
        line("    ntt::no_offset,");
    }
    line(fmt::format("    ntt::result({}, {}, {}));", address_text(c.c), c.c_m.text(), fixed(c.c_group)));
}

void KernelText::emit(const TileContractCall& c) {
    line(
        fmt::format("ntt::contract_tiles<ntt::ContractTilesTile{{.tile_rows = {}, .lanes = {}, .depth = {}, "
                    ".rows = {}, .groups = "
                    "{}, .accumulate = {}}}>(",
                    c.tile_rows, c.lanes, c.depth, c.rows, c.groups, c.accumulate));
    line(fmt::format("    {}, {}, {},", c.m.text(), c.n.text(), c.k.text()));
    line(fmt::format("    ntt::rows({}, {}, ntt::Int<1>{{}}),", address_text(c.a), c.a_m.text()));
    factor(c.b, c.lanes, c.is_in_pairs ? kLanePairs : kLanes);
    line(fmt::format("    ntt::result({}, {}, {}));", address_text(c.c), c.c_m.text(), fixed(c.c_group)));
}

void KernelText::emit(const DotCall& c) {
    line(
        fmt::format("ntt::contract_k<ntt::ContractKTile{{.lanes = {}, .rows = {}, .columns = {}, "
                    ".accumulate = {}}}>(",
                    c.lanes, c.rows, c.columns, c.accumulate));
    line(fmt::format("    {}, {}, {},", extent(c.m), c.n.text(), c.k.text()));
    line(fmt::format("    ntt::k_lanes({}, {}, {}),", address_text(c.a), c.a_m.text(), fixed(c.a_group)));
    factor(c.b, c.lanes, kKLanes);
    line(fmt::format("    ntt::elements({}, {}, {}));", address_text(c.c), c.c_m.text(), fixed(c.c_n)));
}

/// The factor B of a product: an operand of NTT, or a function that finds or computes a group of lanes.
void KernelText::factor(const Factor& b, int64_t lanes, const FactorForms& forms) {
    if (const auto* strided = std::get_if<StridedFactor>(&b)) {
        line(fmt::format("    ntt::{}({}, {}, {}),", forms.strided, address_text(strided->start),
                         strided->outer.text(), fixed(strided->inner)));
        return;
    }
    const auto& function = std::get<ComputedFactor>(b);
    if (const auto object = factors_.object(function, lanes)) {
        line(fmt::format("    ntt::{}({}),", forms.computed, *object));
        return;
    }
    if (const Load* found = lanes_in_memory(function, lanes); found && forms.found) {
        line(fmt::format(
            "    ntt::{}([&]([[maybe_unused]] const int64_t {}, [[maybe_unused]] const int64_t {}) "
            "__attribute__((always_inline)) {{",
            forms.found, function.outer.name, function.inner.name));
        line(fmt::format("        return {};", address_text(found->from)));
        line("    }),");
        return;
    }
    ValueContext inside = context_;
    inside.lanes = lanes;
    inside.valid = "valid";
    line(
        fmt::format("    ntt::{}([&]([[maybe_unused]] const int64_t {}, [[maybe_unused]] const int64_t {}, "
                    "[[maybe_unused]] const auto valid) __attribute__((always_inline)) {{",
                    forms.computed, function.outer.name, function.inner.name));
    line(fmt::format("        return {};", factor_text(*function.value, inside)));
    line("    }),");
}

void KernelText::emit(const StreamCall& c) {
    if (c.depth > 0) {
        line(fmt::format(
            "ntt::softmax_step_tiles<ntt::ContractTilesTile{{.tile_rows = {}, .lanes = {}, .depth = "
            "{}, .rows = {}, .groups = {}}}>(",
            c.tile_rows, c.lanes, c.depth, c.rows, c.groups));
    } else {
        const std::string weights =
            c.weights == ElementType::kF32 ? "" : fmt::format(", ntt::{}", name(c.weights));
        line(fmt::format(
            "ntt::softmax_step<ntt::ContractTile{{.lanes = {}, .rows = {}, .groups = {}{}{}{}}}{}>(", c.lanes,
            c.rows, c.groups, member("prefetch", c.prefetch), c.dot ? ", .dot = true" : "",
            member("panel_blocks", c.panel_blocks), weights));
    }
    line(fmt::format("    {}, {}, {}, {}, {},", extent(c.m), c.s.text(), extent(c.d), c.scores,
                     fixed(Index(c.scores_stride))));
    factor(c.v, c.lanes, kLanes);
    line(fmt::format("    ntt::softmax_state({}, {}, {}, {}, {}));", address_text(c.max), address_text(c.sum),
                     address_text(c.result), fixed(c.result_m), fixed(c.result_group)));
}

void KernelText::emit(const LocalTile& tile) {
    tiles_.push_back(tile.name);
    line(fmt::format("alignas(64) float {}[{}];", tile.name, tile.elements));
}

void KernelText::emit(const Fill& fill) {
    const std::string at = (fill.to.offset + Index::variable({"at", {0, fill.count.bounds().high}})).text();
    const std::string value = float_literal(fill.value);
    line(fmt::format("for (int64_t at = 0; at < {}; ++at) {};", fill.count.text(),
                     fill.to.element == ElementType::kF32
                         ? fmt::format("{}[{}] = {}", fill.to.buffer, at, value)
                         : fmt::format("ntt::set_element({}, {}, {})", fill.to.buffer, at, value)));
}

}  // namespace tessera::cpp
