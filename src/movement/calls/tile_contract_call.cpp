#include "movement/calls/tile_contract_call.h"

#include "movement/call_text.h"
#include "movement/calls/product_meaning.h"
#include "support/error.h"

namespace tessera {
namespace {

std::string problem(const TileContractCall& c) {
    return lanes_problem(c.lanes);
}

Body meaning(const TileContractCall& c) {
    return product_meaning({.lanes = c.lanes,
                            .k_lanes = c.is_in_pairs ? 2 : 1,
                            .accumulate = c.accumulate,
                            .m = c.m,
                            .n = c.n,
                            .k = c.k,
                            .a = c.a,
                            .a_m = c.a_m,
                            .a_k = Index(1),
                            .b = c.b,
                            .c = c.c,
                            .c_m = c.c_m,
                            .c_group = c.c_group});
}

void spell(const TileContractCall& c, CallText& out) {
    out.line(
        fmt::format("ntt::contract_tiles<ntt::ContractTilesTile{{.tile_rows = {}, .lanes = {}, .depth = {}, "
                    ".rows = {}, .groups = "
                    "{}, .accumulate = {}}}>(",
                    c.tile_rows, c.lanes, c.depth, c.rows, c.groups, c.accumulate));
    out.line(fmt::format("    {}, {}, {},", c.m.text(), c.n.text(), c.k.text()));
    out.line(fmt::format("    ntt::rows({}, {}, ntt::Int<1>{{}}),", out.address(c.a), c.a_m.text()));
    out.factor(c.b, c.lanes, c.is_in_pairs ? kFactorInLanePairs : kFactorInLanes);
    out.line(fmt::format("    ntt::result({}, {}, {}));", out.address(c.c), c.c_m.text(), fixed(c.c_group)));
}

}  // namespace

template <>
const CallKind& call_kind<TileContractCall>() {
    static constexpr CallKind kKind =
        make_call_kind<TileContractCall, problem, meaning, spell>("contract_tiles");
    return kKind;
}

}  // namespace tessera
