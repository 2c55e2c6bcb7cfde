#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "chip/chip.h"
#include "chip/device_program.h"
#include "chip/network.h"
#include "chip/timeline.h"

namespace tessera::chip {

/// A link while a packet holds it, from its first byte's entry to its last byte's.
struct HeldLink {
    int32_t link = 0;
    double begin = 0;
    double until = 0;
};

/// Bytes on their way. A transfer may be cut into several packets.
struct PacketRecord {
    size_t op = 0;
    TransferKind kind = TransferKind::kPreload;
    int32_t from = 0;         ///< core, of a preload the controller
    std::vector<int32_t> to;  ///< cores, of a store the controller
    int64_t bytes = 0;
    int64_t step = 0;
    std::vector<HeldLink> links;  ///< each after the one that feeds it
    double start = 0;             ///< requested
    double end = 0;               ///< all of it has arrived
    size_t item = 0;              ///< of the operator's list of this kind
};

struct TileRecord {
    size_t op = 0;
    Tile tile;
    double start = 0;
    double end = 0;
    size_t item = 0;  ///< of the operator's list
};

/// SRAM that an operator holds on a core.
struct SpaceRecord {
    size_t op = 0;
    int32_t core = 0;
    bool is_execute = false;  ///< otherwise of the preload
    int64_t bytes = 0;
    double at = 0;
    double free = 0;
};

/// The records of a simulation besides the spans of preloads and executes.
enum class Recording : uint8_t {
    kEverything,  ///< packets, tiles and spaces
    kSpans,       ///< nothing: memory does not grow with the length of the run
};

/// The run of a program. Times are cycles from 0.
struct Simulation {
    std::vector<PacketRecord> packets;
    std::vector<TileRecord> tiles;
    std::vector<SpaceRecord> spaces;
    std::vector<Span> preloads;  ///< of each position, from request to arrival
    std::vector<Span> executes;
};

/// Runs a device program event by event: packets hold links one after the other, cores compute one tile at a
/// time, controllers share their rate between their ports. Everything begins as soon as its needs are free.
/// @param on_execute hears how many executes have ended
/// @throws Error naming `where`, the operator and the cycle for a program that deadlocks or whose spaces do
/// not fit, and for one without work
Simulation simulate(const Chip& chip, const Network& network, const DeviceProgram& program,
                    const std::string& where, Recording recording = Recording::kEverything,
                    const std::function<void(size_t)>& on_execute = {});

}  // namespace tessera::chip
