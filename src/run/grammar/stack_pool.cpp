#include "run/grammar/stack_pool.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "support/error.h"

// A step takes the frames over one byte, then closes them:
//
//     1. a frame whose rule may end here lets the frames below it go on,
//     2. a call puts the called rule on top of the state behind the call. All calls of one rule become one
//        set of stacks to return to, because rules are expanded in an order in which callers come first.
//
// The frames of 1 need no second look after 2: a rule that may be empty is never called for nothing
// (automaton.h).

namespace tessera::grammar {
namespace {

constexpr StackSet kUnknown = ~StackSet{0};
constexpr uint32_t kNoRow = ~uint32_t{0};
/// Rules inside each other: deeper texts are not taken.
constexpr uint32_t kMostDepth = 2000;
constexpr size_t kMostEntries = size_t{1} << 19;

uint64_t mixed(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdu;
}

}  // namespace

StackPool::StackPool(const Automaton& automaton)
    : automaton_(automaton),
      places_(automaton.starts.size()),
      found_(automaton.states.size(), kUnknown),
      returns_(automaton.starts.size()),
      is_called_(automaton.starts.size(), false) {
    for (size_t i = 0; i < automaton.callers_first.size(); ++i) places_[automaton.callers_first[i]] = i;
    Draft nothing, end{.frames = {}, .holds_end = true};
    intern(nothing);
    intern(end);
}

void StackPool::begin_work() {
    work_ = 0;
    if (!std::exchange(is_closing_, false)) return;
    for (const StateId state : touched_) found_[state] = kUnknown;
    touched_.clear();
    called_.clear();
    std::fill(is_called_.begin(), is_called_.end(), false);
    for (Draft& draft : returns_) draft = {};
}

void StackPool::count_work(size_t work) {
    work_ += work;
    if (work_ > most_work_ && most_work_ < kMostWork) throw WorkIsLeft{};
    if (work_ > kMostWork || entries_.size() > kMostEntries)
        throw Error("grammar", "", "can be read in too many ways here",
                    "make it less ambiguous: let no two alternatives begin with the same long text");
}

StackSet StackPool::intern(Draft& draft) {
    std::vector<Frame>& frames = draft.frames;
    std::sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) {
        return a.state != b.state ? a.state < b.state : a.below < b.below;
    });
    size_t count = 0;
    for (const Frame& frame : frames) {
        if (count > 0 && frames[count - 1].state == frame.state)
            frames[count - 1].below = unite(frames[count - 1].below, frame.below);
        else
            frames[count++] = frame;
    }
    frames.resize(count);
    uint64_t hash = draft.holds_end ? 1 : 0;
    for (const Frame& frame : frames) hash = mixed(mixed(hash, frame.state), frame.below);
    const auto [first, last] = index_.equal_range(hash);
    for (auto known = first; known != last; ++known) {
        const auto contents = this->frames(known->second);
        if (entries_[known->second].holds_end == draft.holds_end &&
            std::equal(contents.begin(), contents.end(), frames.begin(), frames.end()))
            return known->second;
    }
    count_work(frames.size());
    uint32_t depth = 0;
    for (const Frame& frame : frames) depth = std::max(depth, entries_[frame.below].depth + 1);
    const auto id = static_cast<StackSet>(entries_.size());
    entries_.push_back(
        {static_cast<uint32_t>(frames_.size()), static_cast<uint32_t>(count), depth, draft.holds_end});
    frames_.insert(frames_.end(), frames.begin(), frames.end());
    rows_.push_back(kNoRow);
    index_.emplace(hash, id);
    return id;
}

/// The recursion is as deep as the stacks, which have a limit.
StackSet StackPool::unite(StackSet a, StackSet b) {
    if (a == b || b == kNothing) return a;
    if (a == kNothing) return b;
    const uint64_t key = (uint64_t{std::min(a, b)} << 32) | std::max(a, b);
    if (const auto known = unions_.find(key); known != unions_.end()) return known->second;
    Draft both{.frames = {}, .holds_end = may_end(a) || may_end(b)};
    for (const StackSet set : {a, b})
        both.frames.insert(both.frames.end(), frames(set).begin(), frames(set).end());
    count_work(both.frames.size());
    const StackSet result = intern(both);
    unions_.emplace(key, result);
    return result;
}

void StackPool::take(Frame frame, bool& holds_end) {
    std::vector<Frame> open = {frame};
    while (!open.empty()) {
        const Frame next = open.back();
        open.pop_back();
        StackSet& known = found_[next.state];
        if (known == kUnknown) {
            touched_.push_back(next.state);
            known = next.below;
        } else {
            const StackSet united = unite(known, next.below);
            if (united == known) continue;
            known = united;
        }
        if (!automaton_.states[next.state].is_final) continue;
        holds_end = holds_end || may_end(next.below);
        const auto below = frames(next.below);
        count_work(below.size() + 1);
        open.insert(open.end(), below.begin(), below.end());
    }
}

void StackPool::call(RuleId rule, StateId target, StackSet below) {
    Draft& returns = returns_[rule];
    const State& after = automaton_.states[target];
    if (after.bytes.empty() && after.calls.empty()) {
        // The caller has nothing left to do.
        returns.holds_end = returns.holds_end || may_end(below);
        returns.frames.insert(returns.frames.end(), frames(below).begin(), frames(below).end());
        count_work(frames(below).size());
    } else if (entries_[below].depth < kMostDepth) {
        returns.frames.push_back({target, below});
        count_work(1);
    } else {
        return;
    }
    if (is_called_[rule]) return;
    is_called_[rule] = true;
    called_.push_back(places_[rule]);
    std::push_heap(called_.begin(), called_.end(), std::greater<>());
}

void StackPool::expand() {
    for (const StateId state : touched_)
        for (const CallEdge& edge : automaton_.states[state].calls)
            call(edge.rule, edge.target, found_[state]);
    while (!called_.empty()) {
        std::pop_heap(called_.begin(), called_.end(), std::greater<>());
        const RuleId rule = automaton_.callers_first[called_.back()];
        called_.pop_back();
        is_called_[rule] = false;
        const StackSet below = intern(returns_[rule]);
        returns_[rule].frames.clear();
        returns_[rule].holds_end = false;
        const StateId start = automaton_.starts[rule];
        if (found_[start] == kUnknown) {
            touched_.push_back(start);
            found_[start] = below;
        } else {
            found_[start] = unite(found_[start], below);
        }
        for (const CallEdge& edge : automaton_.states[start].calls) call(edge.rule, edge.target, below);
    }
}

StackSet StackPool::close(std::span<const Frame> kernel, bool holds_end) {
    is_closing_ = true;
    for (const Frame& frame : kernel) take(frame, holds_end);
    expand();
    Draft result{.frames = {}, .holds_end = holds_end};
    for (const StateId state : touched_) {
        if (!automaton_.states[state].bytes.empty()) result.frames.push_back({state, found_[state]});
        found_[state] = kUnknown;
    }
    touched_.clear();
    is_closing_ = false;
    return intern(result);
}

StackSet StackPool::start() {
    const Frame first{automaton_.starts[automaton_.root], kEnd};
    return close({&first, 1}, false);
}

StackSet StackPool::set_of(std::vector<Frame> frames) {
    Draft draft{.frames = std::move(frames), .holds_end = false};
    return intern(draft);
}

StackSet StackPool::go_on(StackSet below) {
    const std::vector<Frame> kernel(frames(below).begin(), frames(below).end());
    return close(kernel, may_end(below));
}

StackSet StackPool::step(StackSet set, uint8_t byte) {
    const size_t classes = automaton_.class_count;
    if (rows_[set] == kNoRow) {
        rows_[set] = static_cast<uint32_t>(steps_.size() / classes);
        steps_.resize(steps_.size() + classes, kUnknown);
    }
    const size_t place = rows_[set] * classes + automaton_.byte_classes[byte];
    if (steps_[place] != kUnknown) return steps_[place];
    std::vector<Frame> kernel;
    for (const Frame& frame : frames(set))
        for (const ByteEdge& edge : automaton_.states[frame.state].bytes)
            if (edge.first <= byte && byte <= edge.last) kernel.push_back({edge.target, frame.below});
    const StackSet result = kernel.empty() ? kNothing : close(kernel, false);
    steps_[place] = result;
    return result;
}

StackSet StackPool::copy(const StackPool& from, StackSet set) {
    std::unordered_map<StackSet, StackSet> copies;
    // Depth first: what is below a set is copied before the set itself.
    std::vector<StackSet> open = {set};
    while (!open.empty()) {
        const StackSet next = open.back();
        Draft draft{.frames = {}, .holds_end = from.may_end(next)};
        const size_t before = open.size();
        for (const Frame& frame : from.frames(next)) {
            const auto known = copies.find(frame.below);
            if (known == copies.end())
                open.push_back(frame.below);
            else
                draft.frames.push_back({frame.state, known->second});
        }
        if (open.size() > before) continue;
        open.pop_back();
        copies[next] = intern(draft);
    }
    return copies[set];
}

}  // namespace tessera::grammar
