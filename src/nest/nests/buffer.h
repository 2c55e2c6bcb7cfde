#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nest/nests/box_numbers.h"

namespace tessera::nests {

/// The use of a buffer.
enum class BufferRole : uint8_t {
    kRead,     ///< holds a part of an outside tensor
    kKept,     ///< holds a part of a result that only the nest reads
    kWritten,  ///< holds a part of a result that is stored
};
std::string_view name(BufferRole role);  ///< "read", "kept", "written"

/// Transfers of one kind.
struct Transfers {
    int64_t count = 0;
    int64_t bytes = 0;
    bool operator==(const Transfers&) const = default;
};

/// Holds at most one box of a tensor, and counts what is moved to make it hold others.
class Buffer {
public:
    Buffer(const Kernel& kernel, std::string name, int tensor, BufferRole role)
        : kernel_(&kernel), name_(std::move(name)), tensor_(tensor), role_(role), boxes_(kernel, tensor) {}

    const std::string& name() const { return name_; }
    int tensor() const { return tensor_; }
    BufferRole role() const { return role_; }

    BoxNumbers& boxes() { return boxes_; }
    const BoxNumbers& boxes() const { return boxes_; }

    void begin_unit();
    /// Reads this box: loads it unless it is held.
    void read(int box);
    /// Makes this box, and `begins` its reduction or goes on with it. Stores the box that was held, and
    /// reloads this one if its reduction goes on and this unit has stored it before.
    void make(int box, bool begins);
    void end_unit();
    /// True if all of this box lies in the one that is held.
    bool holds(const Box& box) const;

    const Transfers& loads() const { return loads_; }
    const Transfers& stores() const { return stores_; }
    const Transfers& reloads() const { return reloads_; }
    /// All boxes that any unit has stored.
    std::vector<Box> stored_boxes() const;

private:
    void move(Transfers& transfers, int box) const;
    void store();

    const Kernel* kernel_;
    std::string name_;
    int tensor_;
    BufferRole role_;
    BoxNumbers boxes_;
    std::vector<int64_t> stored_in_;  ///< by box: the last unit that stored it; 0: none
    int64_t unit_ = 0;                ///< counted from 1
    int held_ = -1;
    Transfers loads_;
    Transfers stores_;
    Transfers reloads_;
};

}  // namespace tessera::nests
