#include "measure/unit_code.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "kernels/tile_block.h"

namespace tessera {
namespace {

// In the empty statements values may have changed and are used. So the compiler cannot know that all sums are
// equal and form one of them, take products out of the loop, or leave them out.
constexpr const char* kCommon = R"(#include "tessera/ntt/ntt.h"

namespace ntt = tessera::ntt;

namespace {{

template <class V>
[[gnu::always_inline]] inline void change(V& v) {{
    asm volatile("" : "+{register}"(v.bits));
}}

}}  // namespace
)";

constexpr const char* kProbe = R"(
extern "C" void {registers}(int64_t steps) {{
    using V = ntt::Vector<float, {lanes}>;
    V sum[{sums}];
#pragma GCC unroll 64
    for (V& s : sum) {{
        s = ntt::broadcast<V>(0.0f);
        change(s);
    }}
    auto a = ntt::broadcast<{factor}>({one});
    auto b = a;
    for (int64_t i = 0; i < steps; ++i) {{
        change(a);
        change(b);
#pragma GCC unroll 64
        for (V& s : sum) s = {product};
    }}
#pragma GCC unroll 64
    for (V& s : sum) change(s);
}}

extern "C" void {fed}(const void* a, const void* b, float* c, int64_t n, int64_t k) {{
    constexpr ntt::ContractTile kTile{{.lanes = {lanes}, .rows = {rows}, .groups = {groups}, .b_padded = true{dot}}};
    ntt::contract<kTile>(ntt::Int<{rows}>{{}}, n, k, ntt::rows(static_cast<const {element}*>(a), k, ntt::Int<1>{{}}),
                         ntt::{operand}(static_cast<const {element}*>(b), k * {lanes}, ntt::Int<{step}>{{}}),
                         ntt::result(c, n, ntt::Int<{lanes}>{{}}));
}}
)";

constexpr const char* kTileProbe = R"(
constexpr ntt::ContractTilesTile k_{name}{{.tile_rows = {tile_rows}, .lanes = {lanes}, .depth = {depth}, .rows = {tiles}, .groups = {groups}}};

extern "C" void {registers}(int64_t steps) {{
    ntt::TileUnit unit;
    unit.configure(ntt::tile_configuration<k_{name}, {tiles}>({tile_rows}));
    for (int64_t s = 0; s < steps; ++s) {{
        ntt::detail::for_constants<{tiles}>([&](auto i) {{
            ntt::detail::for_constants<{groups}>([&](auto j) {{
                unit.add_products<k_{name}.c(i.value, j.value), k_{name}.a(i.value), k_{name}.b(j.value)>();
            }});
        }});
    }}
    unit.release();
}}

extern "C" void {fed}(const void* a, const void* b, float* c, int64_t n, int64_t k) {{
    ntt::contract_tiles<k_{name}>(ntt::Int<{rows}>{{}}, n, k, ntt::rows(static_cast<const ntt::bf16*>(a), k, ntt::Int<1>{{}}),
                                  ntt::lane_pairs(static_cast<const ntt::bf16*>(b), k * {lanes}, ntt::Int<2 * {lanes}>{{}}),
                                  ntt::result(c, n, ntt::Int<{lanes}>{{}}));
}}
)";

bool has_types(const ComputeUnit& unit, std::string_view factors) {
    return unit.operands[0].type == factors && unit.operands[1].type == factors &&
           unit.operands[2].type == "f32";
}

std::string tile_probe_code(const UnitProbe& probe) {
    return fmt::format(kTileProbe, fmt::arg("name", probe.name),
                       fmt::arg("registers", register_function(probe)), fmt::arg("fed", fed_function(probe)),
                       fmt::arg("tile_rows", probe.tile_rows), fmt::arg("lanes", probe.lanes),
                       fmt::arg("depth", probe.depth), fmt::arg("rows", probe.rows),
                       fmt::arg("tiles", probe.rows / probe.tile_rows), fmt::arg("groups", probe.groups));
}

std::string probe_code(const UnitProbe& probe) {
    if (probe.tile_rows > 0) return tile_probe_code(probe);
    const bool is_dot = probe.depth == 2;
    const std::string vector = fmt::format("ntt::Vector<float, {}>", probe.lanes);
    return fmt::format(
        kProbe, fmt::arg("registers", register_function(probe)), fmt::arg("fed", fed_function(probe)),
        fmt::arg("lanes", probe.lanes), fmt::arg("rows", probe.rows), fmt::arg("groups", probe.groups),
        fmt::arg("sums", probe.rows * probe.groups),
        fmt::arg("factor", is_dot ? fmt::format("ntt::PairsOf<{}>", vector) : vector),
        fmt::arg("one", is_dot ? "0x3f803f80" : "1.0f"),
        fmt::arg("product", is_dot ? "ntt::dot_add(s, a, b)" : "ntt::fma(a, b, s)"),
        fmt::arg("dot", is_dot ? ", .dot = true" : ""), fmt::arg("element", is_dot ? "ntt::bf16" : "float"),
        fmt::arg("operand", is_dot ? "lane_pairs" : "lanes"), fmt::arg("step", probe.lanes * probe.depth));
}

}  // namespace

double UnitProbe::register_operations(int64_t steps) const {
    return 2.0 * static_cast<double>(rows * groups * lanes * depth) * static_cast<double>(steps);
}

double UnitProbe::fed_operations(int64_t n, int64_t k) const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(n) * static_cast<double>(k);
}

namespace {

std::string identifier(std::string name) {
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')); },
        '_');
    return name;
}

/// The block that the planner chooses for many rows.
std::optional<UnitProbe> tile_probe_of(const ComputeUnit& unit) {
    const auto block = tile_block(unit, std::numeric_limits<int64_t>::max() / 2);
    if (!block || !has_types(unit, "bf16")) return std::nullopt;
    return UnitProbe{.name = identifier(unit.name),
                     .lanes = block->lanes,
                     .depth = block->depth,
                     .tile_rows = block->tile_rows,
                     .rows = block->rows * block->tile_rows,
                     .groups = block->groups,
                     .element_bytes = 2};
}

}  // namespace

std::optional<UnitProbe> probe_of(const ComputeUnit& unit) {
    if (unit.kind == UnitKind::kMatrix) return tile_probe_of(unit);
    if (unit.kind != UnitKind::kVector) return std::nullopt;
    const std::vector<LaneAxis>& lanes = unit.operands[1].lanes;
    const bool is_f32 = has_types(unit, "f32") && lanes.size() == 1;
    const bool is_bf16_pairs = has_types(unit, "bf16") && lanes.size() == 2 && lanes[1].factor == 2;
    if (!is_f32 && !is_bf16_pairs) return std::nullopt;
    return UnitProbe{.name = identifier(unit.name),
                     .lanes = lanes[0].factor,
                     .depth = is_bf16_pairs ? 2 : 1,
                     // The largest block whose sums, two registers of B and one of A fit.
                     .rows = std::clamp<int64_t>((unit.registers - 3) / 2, 1, 12),
                     .groups = 2,
                     .element_bytes = is_bf16_pairs ? 2 : 4};
}

std::string register_function(const UnitProbe& probe) {
    return fmt::format("{}_registers", probe.name);
}

std::string fed_function(const UnitProbe& probe) {
    return fmt::format("{}_fed", probe.name);
}

std::string unit_code(std::span<const UnitProbe> probes, Isa isa) {
    std::string text = fmt::format(kCommon, fmt::arg("register", isa == Isa::kX86_64 ? "v" : "w"));
    for (const UnitProbe& probe : probes) text += probe_code(probe);
    return text;
}

}  // namespace tessera
