#include "movement/calls/contract_call.h"

#include "movement/call_text.h"
#include "movement/calls/product_meaning.h"
#include "support/error.h"

namespace tessera {
namespace {

std::string problem(const ContractCall& c) {
    if (c.k_lanes != 1 && c.k_lanes != 2) return "k_lanes is neither 1 nor 2";
    return lanes_problem(c.lanes);
}

Body meaning(const ContractCall& c) {
    return product_meaning({.lanes = c.lanes,
                            .k_lanes = c.k_lanes,
                            .accumulate = c.accumulate,
                            .m = c.m,
                            .n = c.n,
                            .k = c.k,
                            .a = c.a,
                            .a_m = c.a_m,
                            .a_k = c.a_k,
                            .b = c.b,
                            .c = c.c,
                            .c_m = c.c_m,
                            .c_group = c.c_group});
}

void spell(const ContractCall& c, CallText& out) {
    out.line(fmt::format(
        "ntt::contract<ntt::ContractTile{{.lanes = {}, .rows = {}, .groups = {}, .accumulate "
        "= {}, .b_padded = {}{}{}{}{}{}}}>(",
        c.lanes, c.rows, c.groups, c.accumulate, c.b_is_padded, tile_member("prefetch", c.prefetch),
        tile_member("streams", c.streams, 1), c.dot ? ", .dot = true" : "",
        tile_member("partial_sums", c.partial_sums, 1), tile_member("panel_blocks", c.panel_blocks)));
    out.line(fmt::format("    {}, {}, {},", shared_extent(c.m), c.n.text(), c.k.text()));
    out.line(fmt::format("    ntt::rows({}, {}, {}),", out.address(c.a), c.a_m.text(), fixed(c.a_k)));
    out.factor(c.b, c.lanes, c.k_lanes == 2 ? kFactorInLanePairs : kFactorInLanes);
    out.line(fmt::format("    ntt::result({}, {}, {}));", out.address(c.c), c.c_m.text(), fixed(c.c_group)));
}

}  // namespace

template <>
const CallKind& call_kind<ContractCall>() {
    static constexpr CallKind kKind = make_call_kind<ContractCall, problem, meaning, spell>("contract");
    return kKind;
}

}  // namespace tessera
