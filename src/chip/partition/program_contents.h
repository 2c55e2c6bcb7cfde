#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "chip/device_program.h"
#include "chip/partition/elements.h"
#include "ir/facts/bound_definition.h"

/// The data of the transfers and the work of the tiles of a device program, which make it executable.
namespace tessera::partition {

/// Elements of a tensor of an operator. Those of a transfer that reduces are partial results.
struct Piece {
    size_t tensor = 0;
    Elements elements;
    friend bool operator==(const Piece&, const Piece&) = default;
};

/// The work of a tile: it executes iterations, or adds the parts of a sum that cores have sent.
struct TileContents {
    facts::IterationBox box;       ///< iterations of this step; nothing if it adds
    std::vector<Piece> finished;   ///< results that are complete after it
    facts::IterationBox writing;   ///< iterations of the core that write these
    std::vector<int32_t> adders;   ///< other cores with parts of `finished`; empty: it does not add
    std::vector<Piece> untouched;  ///< results that no iteration reaches, which it sets to their final values
    /// Rotating parts that are not needed after this tile.
    std::vector<Piece> released;
};

/// As the lists of a chip::ProgramOperator.
struct OperatorContents {
    std::array<std::vector<std::vector<Piece>>, 5> transfers;  ///< by TransferKind
    std::vector<TileContents> tiles;

    const std::vector<std::vector<Piece>>& of(chip::TransferKind kind) const {
        return transfers[static_cast<size_t>(kind)];
    }
};

/// The place of elements of a value on the chip: each is on one core.
struct Home {
    int32_t core = 0;
    Elements elements;
};
using Homes = std::vector<Home>;

/// True if results are added to their previous contents.
inline bool folds_into_previous(const Definition& definition) {
    return definition.monoid != Monoid::kNone &&
           definition.tensors[static_cast<size_t>(definition.results().front())].role == Role::kUpdate;
}

/// The elements of a tensor that lie on the chip.
Elements on_chip(const Homes& homes);

}  // namespace tessera::partition
