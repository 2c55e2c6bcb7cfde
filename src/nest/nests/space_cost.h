#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/nests/space.h"

namespace tessera::nests {

/// The rule that says which loops keep a transfer inside.
enum class Hoisting : uint8_t {
    kOneTripLoops,  ///< a loop of one trip holds nothing: the meaning of nests
    kUnusedLoops,   ///< loops let out what does not use them, whatever their trips: Chimera's count
};

/// The cost of one candidate.
struct SpaceCost {
    int64_t bytes = 0;
    int64_t flops = 0;
    int64_t units = 1;
    bool is_legal = true;
    bool operator==(const SpaceCost&) const = default;
};

/// The facts of all nests of one structure in closed form. Bytes, flops and units follow from the trips of
/// the loops and never decrease with them; the footprint follows from the tile sizes and never decreases with
/// those. Tests compare with the walk.
class StructureCost {
public:
    /// @throws Error if counts of the structure may exceed 64 bits
    StructureCost(const Space& space, const Structure& structure,
                  Hoisting hoisting = Hoisting::kOneTripLoops);

    /// `trips` of each iterator of the space; of one of the batch, its extent.
    SpaceCost at(std::span<const int64_t> trips) const;
    /// Bytes that must be held. `tiles` of each iterator of the space; of one of the batch, 1.
    int64_t footprint(std::span<const int64_t> tiles) const;

    const std::vector<size_t>& units() const { return units_; }

    /// A summand of the footprint: the coefficient times the tiles of these iterators, one of them perhaps
    /// twice.
    struct Held {
        int64_t coefficient = 1;
        std::vector<size_t> tiled;
        bool operator==(const Held&) const = default;
    };
    const std::vector<Held>& held() const { return held_; }

private:
    /// How a loop acts on the transfers of a tensor, from the innermost loop outwards.
    enum class Action : uint8_t {
        kUse,       ///< its trips move different boxes
        kRepeat,    ///< its trips move the boxes inside again
        kUnit,      ///< its trips begin with nothing held
        kContinue,  ///< a reduction, of which every trip but the first brings back what was stored
    };
    struct Step {
        Action action;
        size_t iterator;
    };
    struct Moved {
        int64_t bytes = 0;  ///< of the whole tensor
        std::vector<Step> steps;
    };
    struct Computed {
        int64_t flops = 0;
        std::vector<size_t> again;  ///< iterators of which each trip computes it again
    };

    void add_tensor(const Space& space, const SpaceOperator& op, const SpaceTensor& tensor);
    void add_work(const Space& space, size_t op);
    Moved moved(const Space& space, const SpaceTensor& tensor, const std::vector<size_t>& loops,
                bool is_continued) const;
    void check_range(const Space& space) const;
    int64_t times(const Moved& moved, std::span<const int64_t> trips) const;
    bool is_unit(size_t iterator) const;

    Hoisting hoisting_;
    std::vector<size_t> units_;
    std::vector<size_t> outer_;  ///< loops around the producers
    std::vector<size_t> order_;  ///< loops around the root
    std::vector<Moved> moved_;
    std::vector<Computed> computed_;
    std::vector<Held> held_;
    size_t reduction_;
    std::vector<size_t> folded_again_;  ///< loops that are illegal inside the reduction
};

}  // namespace tessera::nests
