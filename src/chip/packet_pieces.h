#pragma once

#include <cstdint>
#include <vector>

#include "chip/simulation.h"

namespace tessera::chip {

/// Bytes of a packet on a link that it has not held in one go.
struct PacketPiece {
    int32_t record = 0;
    int32_t place = 0;  ///< of the link in the record
    double bytes = 0;
    double begin = 0;
    double until = 0;
};

/// Puts a packet for each piece in the place of those that have some. The bytes of a piece pass the other
/// links of the packet in the part of its time there that they are of the packet.
/// @param pieces of a link in the order of their bytes
std::vector<PacketRecord> cut_into_pieces(std::vector<PacketRecord> records,
                                          const std::vector<PacketPiece>& pieces, double latency);

}  // namespace tessera::chip
