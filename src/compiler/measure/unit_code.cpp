#include "compiler/measure/unit_code.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "lowering/kernels/block_contraction.h"
#include "lowering/kernels/tile_block.h"

namespace tessera::measure {
namespace {

// In the empty statements values may have changed and are used. So the compiler cannot know that all sums are
// equal and form one of them, take products out of the loop, or leave them out.
constexpr const char* kCommon = R"(#include "tessera/ntt/ntt.h"

namespace ntt = tessera::ntt;

namespace {{

template <class V>
[[gnu::always_inline]] inline void change(V& v) {{
    if constexpr (V::kIsPair) {{  // of a machine with wider registers
        change(v.low);
        change(v.high);
    }} else {{
        asm volatile("" : "+{register}"(v.bits));
    }}
}}

}}  // namespace
)";

constexpr const char* kRegisters = R"(
extern "C" void {registers}(int64_t steps) {{
    using V = ntt::Vector<{sum}, {lanes}>;
    V sum[{sums}];
#pragma GCC unroll 64
    for (V& s : sum) {{
        s = ntt::broadcast<V>(0);
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
)";

constexpr const char* kFed = R"(
extern "C" void {fed}(const void* a, const void* b, void* c, int64_t n, int64_t k) {{
    constexpr ntt::ContractTile kTile{{.lanes = {lanes}, .rows = {rows}, .groups = {groups}, .b_padded = true{dot}}};
    ntt::contract<kTile>(ntt::Int<{rows}>{{}}, n, k, ntt::rows(static_cast<const {element}*>(a), k, ntt::Int<1>{{}}),
                         ntt::{operand}(static_cast<const {element}*>(b), k * {lanes}, ntt::Int<{step}>{{}}),
                         ntt::result(static_cast<float*>(c), n, ntt::Int<{lanes}>{{}}));
}}
)";

// Scales are 1: the work of a block besides its products is small.
constexpr const char* kFedBytes = R"(
extern "C" void {fed}(const void* a, const void* b, void* c, int64_t n, int64_t k) {{
    constexpr ntt::ContractBlocksTile kTile{{.lanes = {lanes}, .rows = {rows}, .groups = {groups}, .block = 64, .a_block = 64}};
    static const float kOne = 1;
    const auto one = [](int64_t, int64_t, auto) {{ return ntt::broadcast<ntt::Vector<float, {lanes}>>(kOne); }};
    ntt::contract_blocks<kTile>(ntt::Int<{rows}>{{}}, n, k, ntt::rows(static_cast<const int8_t*>(a), k, ntt::Int<1>{{}}),
                                ntt::rows(&kOne, ntt::Int<0>{{}}, ntt::Int<0>{{}}),
                                ntt::lane_quads(static_cast<const uint8_t*>(b), k * {lanes}, ntt::Int<{step}>{{}}),
                                ntt::decoded(one), ntt::no_offset, ntt::result(static_cast<float*>(c), n, ntt::Int<{lanes}>{{}}));
}}
)";

constexpr const char* kTileRegisters = R"(
constexpr ntt::ContractTilesTile k_{name}{{.tile_rows = {tile_rows}, .lanes = {lanes}, .depth = {pairs}, .rows = {tiles}, .groups = {groups}}};

extern "C" void {registers}(int64_t steps) {{
    ntt::TileUnit unit;
    unit.configure(ntt::tile_configuration<k_{name}, {tiles}>({tile_rows}));
    for (int64_t s = 0; s < steps; ++s) {{
        ntt::detail::for_constants<{tiles}>([&](auto i) {{
            ntt::detail::for_constants<{groups}>([&](auto j) {{
                unit.{product}<k_{name}.c(i.value, j.value), k_{name}.a(i.value), k_{name}.b(j.value)>();
            }});
        }});
    }}
    unit.release();
}}
)";

constexpr const char* kFedTiles = R"(
extern "C" void {fed}(const void* a, const void* b, void* c, int64_t n, int64_t k) {{
    ntt::contract_tiles<k_{name}>(ntt::Int<{rows}>{{}}, n, k, ntt::rows(static_cast<const ntt::bf16*>(a), k, ntt::Int<1>{{}}),
                                  ntt::lane_pairs(static_cast<const ntt::bf16*>(b), k * {lanes}, ntt::Int<2 * {lanes}>{{}}),
                                  ntt::result(static_cast<float*>(c), n, ntt::Int<{lanes}>{{}}));
}}
)";

// The micro-kernel makes its bytes of B, once for more rows than these.
constexpr const char* kFedByteTiles = R"(
extern "C" void {fed}(const void* a, const void* b, void* c, int64_t n, int64_t k) {{
    const auto for_all_c = [&](auto f) {{
        ntt::detail::for_constants<{tiles}>([&](auto i) {{
            ntt::detail::for_constants<{groups}>([&](auto j) {{ f(i, j); }});
        }});
    }};
    ntt::TileUnit unit;
    unit.configure(ntt::tile_configuration<k_{name}, {tiles}>({tile_rows}));
    for (int64_t group = 0; group < n / {lanes}; group += {groups}) {{
        for_all_c([&](auto i, auto j) {{ unit.zero<k_{name}.c(i.value, j.value)>(); }});
        for (int64_t begin = 0; begin < k; begin += {depth}) {{
            ntt::detail::for_constants<{tiles}>([&](auto i) {{
                unit.load<k_{name}.a(i.value)>(static_cast<const int8_t*>(a) + i.value * {tile_rows} * k + begin, k);
            }});
            ntt::detail::for_constants<{groups}>([&](auto j) {{
                unit.load<k_{name}.b(j.value)>(static_cast<const int8_t*>(b) + ((group + j.value) * k + begin) * {lanes}, 4 * {lanes});
                ntt::detail::for_constants<{tiles}>([&](auto i) {{
                    unit.add_byte_products<k_{name}.c(i.value, j.value), k_{name}.a(i.value), k_{name}.b(j.value)>();
                }});
            }});
        }}
        for_all_c([&](auto i, auto j) {{
            unit.store<k_{name}.c(i.value, j.value)>(static_cast<int32_t*>(c) + i.value * {tile_rows} * n + (group + j.value) * {lanes}, 4 * n);
        }});
    }}
    unit.release();
}}
)";

bool has_types(const machine::ComputeUnit& unit, std::array<std::string_view, 3> types) {
    return std::ranges::equal(unit.operands, types, {}, &machine::OperandLanes::type);
}

bool is_of_bytes(const UnitProbe& probe) {
    return probe.element_bytes == 1;
}

std::string tile_probe_code(const UnitProbe& probe) {
    const std::string form = std::string(kTileRegisters) + (is_of_bytes(probe) ? kFedByteTiles : kFedTiles);
    return fmt::format(fmt::runtime(form), fmt::arg("name", probe.name),
                       fmt::arg("registers", register_function(probe)), fmt::arg("fed", fed_function(probe)),
                       fmt::arg("tile_rows", probe.tile_rows), fmt::arg("lanes", probe.lanes),
                       fmt::arg("depth", probe.depth),
                       fmt::arg("pairs", probe.depth * probe.element_bytes / 2), fmt::arg("rows", probe.rows),
                       fmt::arg("tiles", probe.rows / probe.tile_rows), fmt::arg("groups", probe.groups),
                       fmt::arg("product", is_of_bytes(probe) ? "add_byte_products" : "add_products"));
}

std::string probe_code(const UnitProbe& probe) {
    if (probe.tile_rows > 0) return tile_probe_code(probe);
    const bool is_dot = probe.element_bytes == 2;
    const std::string vector = fmt::format("ntt::Vector<float, {}>", probe.lanes);
    const std::string form = std::string(kRegisters) + (is_of_bytes(probe) ? kFedBytes : kFed);
    return fmt::format(
        fmt::runtime(form), fmt::arg("registers", register_function(probe)),
        fmt::arg("fed", fed_function(probe)), fmt::arg("lanes", probe.lanes), fmt::arg("rows", probe.rows),
        fmt::arg("groups", probe.groups), fmt::arg("sums", probe.rows * probe.groups),
        fmt::arg("sum", is_of_bytes(probe) ? "int32_t" : "float"),
        fmt::arg("factor", is_of_bytes(probe) ? fmt::format("ntt::QuadsOf<{}>", vector)
                           : is_dot           ? fmt::format("ntt::PairsOf<{}>", vector)
                                              : vector),
        fmt::arg("one", is_of_bytes(probe) ? "0x01010101"
                        : is_dot           ? "0x3f803f80"
                                           : "1.0f"),
        fmt::arg("product", probe.depth > 1 ? "ntt::dot_add(s, a, b)" : "ntt::fma(a, b, s)"),
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

std::string name_in_code(std::string name) {
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')); },
        '_');
    return name;
}

/// The block that the planner chooses for many rows, of bf16.
std::optional<UnitProbe> tile_probe_of(const machine::ComputeUnit& unit) {
    const auto block = kernels::tile_block(unit, std::numeric_limits<int64_t>::max() / 2);
    const bool is_of_bytes = has_types(unit, {"i8", "i8", "i32"});
    if (!block || !(is_of_bytes || has_types(unit, {"bf16", "bf16", "f32"}))) return std::nullopt;
    return UnitProbe{.name = name_in_code(unit.name),
                     .lanes = block->lanes,
                     .depth = block->depth,
                     .tile_rows = block->tile_rows,
                     .rows = block->rows * block->tile_rows,
                     .groups = block->groups,
                     .element_bytes = is_of_bytes ? 1 : 2};
}

}  // namespace

std::optional<UnitProbe> probe_of(const machine::ComputeUnit& unit) {
    if (unit.kind == machine::UnitKind::kMatrix) return tile_probe_of(unit);
    if (unit.kind != machine::UnitKind::kVector) return std::nullopt;
    const std::vector<machine::LaneAxis>& lanes = unit.operands[1].lanes;
    const int64_t depth = lanes.size() == 2 ? lanes[1].factor : 1;
    const bool is_f32 = has_types(unit, {"f32", "f32", "f32"}) && depth == 1;
    const bool is_bf16_pairs = has_types(unit, {"bf16", "bf16", "f32"}) && depth == 2;
    const bool is_quads = has_types(unit, {"u8", "i8", "i32"}) && depth == kernels::kQuad;
    if (!is_f32 && !is_bf16_pairs && !is_quads) return std::nullopt;
    return UnitProbe{.name = name_in_code(unit.name),
                     .lanes = lanes[0].factor,
                     .depth = depth,
                     // The largest block whose sums, two registers of B and one of A fit; beside sums of
                     // bytes there are floats.
                     .rows = std::clamp<int64_t>((unit.registers - 3) / 2, 1, is_quads ? 6 : 12),
                     .groups = 2,
                     .element_bytes = 4 / depth};
}

std::string register_function(const UnitProbe& probe) {
    return fmt::format("{}_registers", probe.name);
}

std::string fed_function(const UnitProbe& probe) {
    return fmt::format("{}_fed", probe.name);
}

void add_unit(backend::Code& code, const std::string& text) {
    code.text +=
        fmt::format("#if !defined TESSERA_UNIT || TESSERA_UNIT == {}\n{}#endif\n", code.units++, text);
}

backend::Code unit_code(std::span<const UnitProbe> probes, machine::Isa isa) {
    backend::Code code = {
        .text = fmt::format(kCommon, fmt::arg("register", isa == machine::Isa::kX86_64 ? "v" : "w")),
        .units = 0};
    for (const UnitProbe& probe : probes) add_unit(code, probe_code(probe));
    return code;
}

}  // namespace tessera::measure
