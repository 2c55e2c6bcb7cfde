#include "run/grammar/raw_automaton.h"

#include <algorithm>
#include <map>
#include <utility>

#include "run/grammar/character_ranges.h"
#include "support/error.h"

namespace tessera::grammar {
namespace {

/// Rules up to this size, in bytes and references, are written out at every use. A character of a string then
/// costs no call, while whole strings stay one rule, whose masks are computed once.
constexpr int64_t kInlined = 32;
constexpr int64_t kTooLarge = int64_t{1} << 40;

/// The sizes of rules, and which of them are written out.
class Sizes {
public:
    explicit Sizes(const RuleSet& rules)
        : rules_(rules), sizes_(rules.rules.size(), -1), is_open_(rules.rules.size(), false) {
        // The depth of the recursion is at most kInlined rules: deeper ones are too large in any case.
        for (RuleId rule = 0; rule < sizes_.size(); ++rule) of_rule(rule, 0);
    }
    bool is_inlined(RuleId rule) const { return rule != rules_.root && sizes_[rule] <= kInlined; }

private:
    int64_t of_rule(RuleId rule, int64_t depth) {
        if (sizes_[rule] >= 0) return sizes_[rule];
        if (is_open_[rule] || depth > kInlined) return kTooLarge;
        is_open_[rule] = true;
        const int64_t size = of_node(rules_.rules[rule].body, depth + 1);
        is_open_[rule] = false;
        // Not kept if the depth decided; but a rule that calls itself is too large from all sides.
        if (size < kTooLarge || depth == 0) sizes_[rule] = size;
        return size;
    }

    int64_t of_node(NodeId id, int64_t depth) {
        const Node& node = rules_.nodes[id];
        int64_t size = 1;
        if (const auto* literal = std::get_if<Literal>(&node)) {
            size += static_cast<int64_t>(literal->bytes.size());
        } else if (const auto* reference = std::get_if<Reference>(&node)) {
            size += of_rule(reference->rule, depth);
        } else if (const auto* sequence = std::get_if<Sequence>(&node)) {
            size += of_parts(sequence->parts, depth);
        } else if (const auto* choice = std::get_if<Choice>(&node)) {
            size += of_parts(choice->parts, depth);
        } else if (const auto* repetition = std::get_if<Repetition>(&node)) {
            const int64_t times = std::max<int64_t>(repetition->most.value_or(repetition->least + 1), 1);
            size += of_node(repetition->part, depth) * std::min(times, kInlined + 1);
        } else if (const auto* network = std::get_if<Network>(&node)) {
            for (const Network::State& state : network->states)
                for (const Network::Edge& edge : state.edges) {
                    size += of_node(edge.part, depth);
                    if (size > kInlined) return kTooLarge;
                }
        }
        return std::min(size, kTooLarge);
    }

    /// Ends at the first part that is too large: the size is computed once for each use of a rule.
    int64_t of_parts(const std::vector<NodeId>& parts, int64_t depth) {
        int64_t size = 0;
        for (const NodeId part : parts) {
            size += of_node(part, depth);
            if (size > kInlined) return kTooLarge;
        }
        return size;
    }

    const RuleSet& rules_;
    std::vector<int64_t> sizes_;
    std::vector<bool> is_open_;
};

class Builder {
public:
    Builder(const RuleSet& rules, const Limits& limits) : rules_(rules), limits_(limits), sizes_(rules) {}

    RawAutomaton build() && {
        for (const Rule& rule : rules_.rules) {
            current_ = &rule;
            const StateId start = add_state(), end = add_state();
            raw_.starts.push_back(start);
            raw_.states[end].is_final = true;
            node(rule.body, start, end);
        }
        return std::move(raw_);
    }

private:
    StateId add_state() {
        if (raw_.states.size() >= limits_.states)
            throw Error(current_->where, current_->name,
                        fmt::format("with this rule the grammar has more than {} states", limits_.states),
                        "write it with smaller counts");
        raw_.states.emplace_back();
        raw_.empty_edges.emplace_back();
        return static_cast<StateId>(raw_.states.size() - 1);
    }

    void node(NodeId id, StateId from, StateId to) {
        std::visit([&](const auto& part) { add(part, from, to); }, rules_.nodes[id]);
    }

    void add(const Literal& literal, StateId from, StateId to) {
        if (literal.bytes.empty()) return raw_.empty_edges[from].push_back(to);
        for (size_t i = 0; i < literal.bytes.size(); ++i) {
            const StateId next = i + 1 == literal.bytes.size() ? to : add_state();
            const auto byte = static_cast<uint8_t>(literal.bytes[i]);
            raw_.states[from].bytes.push_back({byte, byte, next});
            from = next;
        }
    }

    /// Sequences share the states of equal ends.
    void add(const CharacterClass& characters, StateId from, StateId to) {
        std::map<std::vector<std::pair<uint8_t, uint8_t>>, StateId> ends;
        for (const ByteSequence& sequence : utf8_sequences(characters.ranges)) {
            StateId next = to;
            std::vector<std::pair<uint8_t, uint8_t>> end;
            for (size_t i = sequence.size() - 1; i > 0; --i) {
                end.emplace_back(sequence[i].first, sequence[i].last);
                const auto found = ends.find(end);
                if (found == ends.end()) {
                    const StateId before = add_state();
                    raw_.states[before].bytes.push_back({sequence[i].first, sequence[i].last, next});
                    next = ends.emplace(end, before).first->second;
                } else {
                    next = found->second;
                }
            }
            raw_.states[from].bytes.push_back({sequence[0].first, sequence[0].last, next});
        }
    }

    void add(const Sequence& sequence, StateId from, StateId to) {
        for (size_t i = 0; i < sequence.parts.size(); ++i) {
            const StateId next = i + 1 == sequence.parts.size() ? to : add_state();
            node(sequence.parts[i], from, next);
            from = next;
        }
    }

    void add(const Choice& choice, StateId from, StateId to) {
        for (const NodeId part : choice.parts) node(part, from, to);
    }

    void add(const Repetition& repetition, StateId from, StateId to) {
        for (int64_t i = 0; i < repetition.least; ++i) {
            const StateId next = add_state();
            node(repetition.part, from, next);
            from = next;
        }
        if (!repetition.most) {
            const StateId loop = add_state();
            raw_.empty_edges[from].push_back(loop);
            node(repetition.part, loop, loop);
            raw_.empty_edges[loop].push_back(to);
            return;
        }
        for (int64_t i = repetition.least; i < *repetition.most; ++i) {
            raw_.empty_edges[from].push_back(to);
            const StateId next = add_state();
            node(repetition.part, from, next);
            from = next;
        }
        raw_.empty_edges[from].push_back(to);
    }

    void add(const Reference& reference, StateId from, StateId to) {
        if (sizes_.is_inlined(reference.rule))
            node(rules_.rules[reference.rule].body, from, to);
        else
            raw_.states[from].calls.push_back({reference.rule, to});
    }

    void add(const Network& network, StateId from, StateId to) {
        std::vector<StateId> states;
        for (size_t i = 0; i < network.states.size(); ++i) states.push_back(add_state());
        if (!states.empty()) raw_.empty_edges[from].push_back(states.front());
        for (size_t i = 0; i < states.size(); ++i) {
            for (const Network::Edge& edge : network.states[i].edges)
                node(edge.part, states[i], states[edge.target]);
            if (network.states[i].is_final) raw_.empty_edges[states[i]].push_back(to);
        }
    }

    const RuleSet& rules_;
    const Limits& limits_;
    Sizes sizes_;
    const Rule* current_ = nullptr;
    RawAutomaton raw_;
};

}  // namespace

RawAutomaton build_raw(const RuleSet& rules, const Limits& limits) {
    return Builder(rules, limits).build();
}

std::vector<bool> reach_end(const std::vector<State>& states, const std::vector<StateId>& starts,
                            bool empty) {
    // The states whose edges depend on each state: they are tried again when it is found to reach the end.
    std::vector<std::vector<StateId>> dependents(states.size());
    std::vector<StateId> found;
    for (StateId state = 0; state < states.size(); ++state) {
        if (states[state].is_final) found.push_back(state);
        if (!empty)
            for (const ByteEdge& edge : states[state].bytes) dependents[edge.target].push_back(state);
        for (const CallEdge& edge : states[state].calls) {
            dependents[edge.target].push_back(state);
            dependents[starts[edge.rule]].push_back(state);
        }
    }
    std::vector<bool> reaches(states.size(), false);
    const auto holds = [&](const State& state) {
        const auto by_byte = [&](const ByteEdge& edge) { return !empty && reaches[edge.target]; };
        const auto by_call = [&](const CallEdge& edge) {
            return reaches[edge.target] && reaches[starts[edge.rule]];
        };
        return state.is_final || std::any_of(state.bytes.begin(), state.bytes.end(), by_byte) ||
               std::any_of(state.calls.begin(), state.calls.end(), by_call);
    };
    while (!found.empty()) {
        const StateId state = found.back();
        found.pop_back();
        if (reaches[state]) continue;
        reaches[state] = true;
        for (const StateId dependent : dependents[state])
            if (!reaches[dependent] && holds(states[dependent])) found.push_back(dependent);
    }
    return reaches;
}

}  // namespace tessera::grammar
