#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nest/nests/buffer.h"
#include "nest/nests/influence.h"
#include "nest/nests/level_machine.h"
#include "nest/nests/needed.h"
#include "nest/nests/nest.h"

namespace tessera::nests {

/// A buffer of a level: what it is for and where it stands, and what it holds on a walk.
struct LevelBuffer {
    std::string name;  ///< "A@L2", "A@L1 for c", "C@L1 by c"
    int tensor = 0;
    int level = 0;
    BufferRole role = BufferRole::kRead;
    int other = 0;           ///< level from which it is filled, or to which it is emptied; not of kept ones
    size_t depth = 0;        ///< only so many loops count for its box
    bool is_shared = false;  ///< one buffer serves all units
    Needed needed = {};      ///< at the present trips
    int held = -1;           ///< number of the box; -1: none
    BoxNumbers boxes = {};
    int64_t bytes_of_unit = 0;         ///< moved in this unit
    Transfers loads, stores, reloads;  ///< over all units; of a shared one once for all
};

/// The buffers of a nest on a machine with levels.
class LevelBuffers {
public:
    LevelBuffers(const Kernel& kernel, const LevelMachine& machine, const Nest& nest, Influence& influence);

    std::vector<LevelBuffer>& all() { return all_; }
    const std::vector<LevelBuffer>& all() const { return all_; }
    /// That a load fills.
    LevelBuffer& loaded(int tensor, int level) { return all_[loaded_.at({tensor, level})]; }
    /// That an operator fills when it runs; null if the operand is at hand already.
    LevelBuffer* filled_at(int op, size_t operand);
    /// The buffer in which a result lives; null if it lives in memory.
    LevelBuffer* home(int tensor);
    /// In which a result waits on its way home, the outermost first; numbers in `all()`.
    const std::vector<size_t>& on_the_way(int tensor) const {
        return on_the_way_[static_cast<size_t>(tensor)];
    }

private:
    void add_reads();
    void add_results();
    size_t add(LevelBuffer buffer, uint64_t loops);

    const Kernel& kernel_;
    const LevelMachine& machine_;
    const Nest& nest_;
    Influence& influence_;
    std::vector<LevelBuffer> all_;
    std::map<std::pair<int, int>, size_t> loaded_;
    std::vector<std::vector<std::optional<size_t>>> filled_at_;  ///< by operator and operand
    std::vector<std::optional<size_t>> home_;                    ///< by tensor
    std::vector<std::vector<size_t>> on_the_way_;                ///< by tensor
};

}  // namespace tessera::nests
