#include "run/grammar/automaton.h"

#include <algorithm>
#include <string>
#include <utility>

#include "run/grammar/raw_automaton.h"
#include "support/error.h"

namespace tessera::grammar {
namespace {

/// Gives every state the edges of those that it reaches without a byte, and drops states that only such edges
/// lead to.
class EmptyEdges {
public:
    EmptyEdges(RawAutomaton raw, const RuleSet& rules, const Limits& limits)
        : raw_(std::move(raw)), rules_(rules), limits_(limits), seen_(raw_.states.size(), 0) {}

    Automaton remove() && {
        // Calls of rules that may be empty also lead on without a byte.
        const std::vector<std::vector<StateId>> plain = raw_.empty_edges;
        close_all(plain);
        const std::vector<bool> empty = reach_end(closed_, raw_.starts, true);
        std::vector<std::vector<StateId>> edges = plain;
        bool has_new = false;
        for (size_t state = 0; state < raw_.states.size(); ++state)
            for (const CallEdge& call : raw_.states[state].calls)
                if (empty[raw_.starts[call.rule]]) {
                    edges[state].push_back(call.target);
                    has_new = true;
                }
        if (has_new) close_all(edges);
        return number();
    }

private:
    void close_all(const std::vector<std::vector<StateId>>& edges) {
        closed_.assign(raw_.states.size(), {});
        size_t count = 0;
        for (StateId state = 0; state < closed_.size(); ++state) {
            close(state, edges);
            count += closed_[state].bytes.size() + closed_[state].calls.size();
            if (count > limits_.edges)
                throw Error(rules_.where, "",
                            fmt::format("the automaton of the grammar has more than {} edges", limits_.edges),
                            "use fewer optional parts one after the other");
        }
    }

    void close(StateId origin, const std::vector<std::vector<StateId>>& edges) {
        State& result = closed_[origin];
        ++round_;
        std::vector<StateId> open = {origin};
        seen_[origin] = round_;
        while (!open.empty()) {
            const StateId state = open.back();
            open.pop_back();
            const State& raw = raw_.states[state];
            result.is_final = result.is_final || raw.is_final;
            result.bytes.insert(result.bytes.end(), raw.bytes.begin(), raw.bytes.end());
            result.calls.insert(result.calls.end(), raw.calls.begin(), raw.calls.end());
            for (const StateId next : edges[state])
                if (std::exchange(seen_[next], round_) != round_) open.push_back(next);
        }
        const auto unify = [](auto& list) {
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
        };
        unify(result.bytes);
        unify(result.calls);
    }

    /// Keeps the states from which texts lead to an end, and that the starts lead to.
    Automaton number() {
        const std::vector<bool> ends = reach_end(closed_, raw_.starts, false);
        if (!ends[raw_.starts[rules_.root]])
            throw Error(rules_.rules[rules_.root].where, rules_.rules[rules_.root].name,
                        "allows no text at all", "give its recursion an end");
        constexpr StateId kNone = ~StateId{0};
        std::vector<StateId> numbers(closed_.size(), kNone);
        std::vector<StateId> kept;
        const auto number_of = [&](StateId state) {
            if (numbers[state] == kNone) {
                numbers[state] = static_cast<StateId>(kept.size());
                kept.push_back(state);
            }
            return numbers[state];
        };
        Automaton result{.root = rules_.root};
        for (const StateId start : raw_.starts) result.starts.push_back(number_of(start));
        for (size_t i = 0; i < kept.size(); ++i) {
            const State& state = closed_[kept[i]];
            State added{.is_final = state.is_final};
            for (const ByteEdge& edge : state.bytes)
                if (ends[edge.target]) added.bytes.push_back({edge.first, edge.last, number_of(edge.target)});
            for (const CallEdge& edge : state.calls)
                if (ends[edge.target] && ends[raw_.starts[edge.rule]])
                    added.calls.push_back({edge.rule, number_of(edge.target)});
            result.states.push_back(std::move(added));
        }
        return result;
    }

    RawAutomaton raw_;
    const RuleSet& rules_;
    const Limits& limits_;
    std::vector<State> closed_;
    std::vector<uint64_t> seen_;
    uint64_t round_ = 0;
};

/// Puts the rules in an order in which those that a rule begins with come after it.
class CallOrder {
public:
    CallOrder(const Automaton& automaton, const RuleSet& rules)
        : automaton_(automaton), rules_(rules), marks_(rules.rules.size(), Mark::kNew) {}

    std::vector<RuleId> order() && {
        for (RuleId rule = 0; rule < marks_.size(); ++rule) visit(rule);
        std::reverse(done_.begin(), done_.end());
        return std::move(done_);
    }

private:
    enum class Mark { kNew, kOpen, kDone };

    void visit(RuleId first) {
        if (marks_[first] != Mark::kNew) return;
        struct Step {
            RuleId rule;
            size_t next_call;
        };
        std::vector<Step> open = {{first, 0}};
        marks_[first] = Mark::kOpen;
        while (!open.empty()) {
            Step& step = open.back();
            const auto& calls = automaton_.states[automaton_.starts[step.rule]].calls;
            if (step.next_call == calls.size()) {
                marks_[step.rule] = Mark::kDone;
                done_.push_back(step.rule);
                open.pop_back();
                continue;
            }
            const RuleId called = calls[step.next_call++].rule;
            if (marks_[called] == Mark::kDone) continue;
            if (marks_[called] == Mark::kOpen) {
                std::string path;
                auto from = std::find_if(open.begin(), open.end(),
                                         [&](const Step& one) { return one.rule == called; });
                for (; from != open.end(); ++from) path += rules_.rules[from->rule].name + " -> ";
                const Rule& rule = rules_.rules[called];
                throw Error(rule.where, rule.name,
                            fmt::format("calls itself before it has read a character: {}{}", path, rule.name),
                            "write the repetition with * or +, or call it after something else");
            }
            marks_[called] = Mark::kOpen;
            open.push_back({called, 0});
        }
    }

    const Automaton& automaton_;
    const RuleSet& rules_;
    std::vector<Mark> marks_;
    std::vector<RuleId> done_;
};

void classify_bytes(Automaton& automaton) {
    std::array<bool, 257> begins = {};
    begins[0] = true;
    for (const State& state : automaton.states)
        for (const ByteEdge& edge : state.bytes) {
            begins[edge.first] = true;
            begins[edge.last + size_t{1}] = true;
        }
    size_t count = 0;
    for (size_t byte = 0; byte < 256; ++byte) {
        if (begins[byte]) ++count;
        automaton.byte_classes[byte] = static_cast<uint8_t>(count - 1);
    }
    automaton.class_count = count;
}

}  // namespace

Automaton compile(const RuleSet& rules, const Limits& limits) {
    Automaton automaton = EmptyEdges(build_raw(rules, limits), rules, limits).remove();
    automaton.callers_first = CallOrder(automaton, rules).order();
    classify_bytes(automaton);
    return automaton;
}

}  // namespace tessera::grammar
