#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "run/grammar/automaton.h"

namespace tessera::grammar {

/// Index of a set of stacks in its pool. Equal sets have equal ids.
using StackSet = uint32_t;

/// The stacks with this state on top, and any stack of the set below it.
struct Frame {
    StateId state = 0;
    StackSet below = 0;
    bool operator==(const Frame&) const = default;
};

/// Thrown when a piece of work reaches a limit below StackPool::kMostWork. Its results are remembered, so
/// that doing it again takes less.
struct WorkIsLeft {};

/// Sets of stacks of an automaton: all ways to read the text so far. A stack holds the state of the rule that
/// is being read, and the return states of its callers. A set is a list of frames, at most one for each
/// state; sets below are shared:
///
///     s ::= "a" s "b" | "a" s "c" | "d"       after "aa":   {1, 4} -> {2, 5} -> {2, 5} -> end
///
/// So a set has at most as many frames as the automaton has states, however many ways there are. A call at
/// the end of a rule leaves nothing on the stack. The result of each set and byte is remembered.
/// Source: Tomita, "An Efficient Augmented-Context-Free Parsing Algorithm" (1987), graph-structured stacks;
/// sets that are values instead of nodes of one graph are ours.
class StackPool {
public:
    explicit StackPool(const Automaton& automaton);

    static constexpr StackSet kNothing = 0;  ///< no stack: the text is not in the grammar
    static constexpr StackSet kEnd = 1;      ///< the empty stack: everything has been read

    /// The set before the first byte of a text.
    StackSet start();
    /// The set of exactly these stacks. @pre the states of the frames have edges with bytes
    StackSet set_of(std::vector<Frame> frames);
    /// The most frames that a piece of work visits, for a token or a mask of a vocabulary. The largest pieces
    /// take seconds.
    static constexpr size_t kMostWork = size_t{1} << 22;
    /// Begins a piece of work: the functions that make sets count towards it. Also after one was broken off.
    void begin_work();
    /// Limits the pieces that begin from now on. @pre work <= kMostWork
    void limit_work(size_t work) { most_work_ = work; }
    /// The set after one more byte. @throws Error beyond the pool's limits, WorkIsLeft beyond the work's
    StackSet step(StackSet set, uint8_t byte);
    /// The set that remains when frames above `below` reach the ends of their rules.
    StackSet go_on(StackSet below);

    std::span<const Frame> frames(StackSet set) const {
        const Entry& entry = entries_[set];
        return {frames_.data() + entry.first, entry.count};
    }
    /// True if the text may end here.
    bool may_end(StackSet set) const { return entries_[set].holds_end; }

    /// True if a new pool should be begun, with the sets that are still needed.
    bool is_large() const { return entries_.size() > kLarge || steps_.size() > kLarge * 16; }
    /// The set of another pool over the same automaton, in this one.
    StackSet copy(const StackPool& from, StackSet set);

    const Automaton& automaton() const { return automaton_; }

private:
    static constexpr size_t kLarge = size_t{1} << 14;
    struct Entry {
        uint32_t first;
        uint32_t count;
        uint32_t depth;
        bool holds_end;
    };
    /// A set that is being made: frames of one state are united when it is interned.
    struct Draft {
        std::vector<Frame> frames;
        bool holds_end = false;
    };

    StackSet intern(Draft& draft);
    StackSet unite(StackSet a, StackSet b);
    StackSet close(std::span<const Frame> kernel, bool holds_end);
    void take(Frame frame, bool& holds_end);
    void call(RuleId rule, StateId target, StackSet below);
    void expand();
    void count_work(size_t work);

    const Automaton& automaton_;
    std::vector<size_t> places_;  ///< by rule, in callers_first
    std::vector<Frame> frames_;
    std::vector<Entry> entries_;
    std::unordered_multimap<uint64_t, StackSet> index_;  ///< by hash of the contents
    std::unordered_map<uint64_t, StackSet> unions_;
    std::vector<StackSet> steps_;  ///< rows of class_count
    std::vector<uint32_t> rows_;   ///< by set; of `steps_`
    size_t work_ = 0;
    size_t most_work_ = kMostWork;
    bool is_closing_ = false;

    // Buffers of `close`, kept for reuse.
    std::vector<StackSet> found_;  ///< by state
    std::vector<StateId> touched_;
    std::vector<Draft> returns_;   ///< by rule
    std::vector<size_t> called_;   ///< a heap of places in callers_first
    std::vector<bool> is_called_;  ///< by rule
};

}  // namespace tessera::grammar
