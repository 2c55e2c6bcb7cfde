#pragma once

#include "movement/call_fields.h"

namespace tessera {

/// As ContractCall with lanes along k, folded at the end.
struct DotCall {
    int64_t lanes = 1, rows = 1, columns = 1;
    bool accumulate = false;
    Index m, n, k;
    Address a;
    Index a_m, a_group;  ///< `group`: from one group of lanes along k to the next
    Factor b;            ///< outer: n; inner: groups of k
    Address c;
    Index c_m, c_n;

    static constexpr auto kFields = std::tuple{field("lanes", &DotCall::lanes),
                                               field("rows", &DotCall::rows),
                                               field("columns", &DotCall::columns),
                                               field("accumulate", &DotCall::accumulate),
                                               field("m", &DotCall::m),
                                               field("n", &DotCall::n),
                                               field("k", &DotCall::k),
                                               field("a", &DotCall::a),
                                               field("a_m", &DotCall::a_m),
                                               field("a_group", &DotCall::a_group),
                                               field("b", &DotCall::b),
                                               field("c", &DotCall::c),
                                               field("c_m", &DotCall::c_m),
                                               field("c_n", &DotCall::c_n)};
};
template <>
const CallKind& call_kind<DotCall>();

}  // namespace tessera
