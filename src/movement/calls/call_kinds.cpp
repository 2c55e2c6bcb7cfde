#include "movement/calls/call_kinds.h"

#include "movement/calls/block_contract_call.h"
#include "movement/calls/contract_call.h"
#include "movement/calls/dot_call.h"
#include "movement/calls/stream_call.h"
#include "movement/calls/tile_contract_call.h"

namespace tessera {

std::span<const CallKind* const> call_kinds() {
    static const CallKind* const kKinds[] = {&call_kind<ContractCall>(), &call_kind<BlockContractCall>(),
                                             &call_kind<TileContractCall>(), &call_kind<DotCall>(),
                                             &call_kind<StreamCall>()};
    return kKinds;
}

}  // namespace tessera
