#pragma once

#include <cstddef>
#include <vector>

#include "chip/simulation.h"

namespace tessera::partition {

/// Something that begins or ends in a simulation.
struct ProgramEvent {
    enum class Kind : uint8_t { kArrival, kTileEnd, kExecuteEnd, kSend, kTileBegin };  // at one moment, so

    double time = 0;
    Kind kind = Kind::kSend;
    chip::TransferKind transfer = chip::TransferKind::kPreload;  ///< of an arrival or a sending
    size_t op = 0;                                               ///< position
    size_t item = 0;                                             ///< of the operator's list
};

/// In order; at one moment ends come before begins. A transfer is sent with its first packet, and has arrived
/// with its last.
std::vector<ProgramEvent> events_of(const chip::Simulation& simulation);

}  // namespace tessera::partition
