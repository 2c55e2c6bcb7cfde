#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

/// The state of every byte of a memory while a program runs: the buffer through which it was written last,
/// and the workers that have touched it since the last barrier.
namespace tessera::movement {

/// The source of an access to memory.
struct Toucher {
    uint32_t phase = 0;   ///< from 1; barriers begin a new one
    uint16_t worker = 0;  ///< of the phase
    uint16_t kernel = 0;  ///< its number in the program
};

class Shadow {
public:
    static constexpr uint32_t kNobody = 0;  ///< owner of bytes that nothing has written
    static constexpr uint32_t kGiven = std::numeric_limits<uint32_t>::max();  ///< written before the step
    static constexpr uint16_t kSeveral = std::numeric_limits<uint16_t>::max();

    /// `owner`: the owner of all bytes in the beginning.
    Shadow(size_t bytes, uint32_t owner) : bytes_(bytes, Byte{.owner = owner}) {}

    struct Conflict {
        uint16_t worker;  ///< the other one; kSeveral: two or more
        uint16_t kernel;
        bool is_write;  ///< of the other one
    };

    size_t size() const { return bytes_.size(); }
    /// The owner of [begin, begin + count); kNobody if some byte is not written, or has another owner.
    uint32_t owner(size_t begin, size_t count) const {
        const uint32_t first = bytes_[begin].owner;
        for (size_t i = 1; i < count; ++i)
            if (bytes_[begin + i].owner != first) return kNobody;
        return first;
    }
    /// The owner of the first byte.
    uint32_t first_owner(size_t begin) const { return bytes_[begin].owner; }

    /// Records a read. Returns another worker's write to these bytes in this phase, if there is one.
    std::optional<Conflict> read(size_t begin, size_t count, const Toucher& who) {
        std::optional<Conflict> conflict;
        for (size_t i = begin; i < begin + count; ++i) {
            Byte& byte = bytes_[i];
            if (byte.write_phase == who.phase && byte.writer != who.worker)
                conflict = {byte.writer, byte.write_kernel, true};
            if (byte.read_phase != who.phase) {
                byte.read_phase = who.phase;
                byte.reader = who.worker;
                byte.read_kernel = who.kernel;
            } else if (byte.reader != who.worker) {
                byte.reader = kSeveral;
            }
        }
        return conflict;
    }

    /// Records a write. Returns another worker's access to these bytes in this phase, if there is one.
    std::optional<Conflict> write(size_t begin, size_t count, const Toucher& who, uint32_t owner) {
        std::optional<Conflict> conflict;
        for (size_t i = begin; i < begin + count; ++i) {
            Byte& byte = bytes_[i];
            if (byte.read_phase == who.phase && byte.reader != who.worker)
                conflict = {byte.reader, byte.read_kernel, false};
            if (byte.write_phase == who.phase && byte.writer != who.worker)
                conflict = {byte.writer, byte.write_kernel, true};
            byte.owner = owner;
            byte.write_phase = who.phase;
            byte.writer = who.worker;
            byte.write_kernel = who.kernel;
        }
        return conflict;
    }

private:
    struct Byte {
        uint32_t owner = kNobody;
        uint32_t write_phase = 0, read_phase = 0;  ///< the last ones
        uint16_t writer = 0, reader = 0;           ///< in these
        uint16_t write_kernel = 0, read_kernel = 0;
    };
    std::vector<Byte> bytes_;
};

}  // namespace tessera::movement
