#include "fuzz/programs/shrink.h"

#include <algorithm>
#include <optional>

#include "fuzz/programs/draw_program.h"
#include "fuzz/programs/expected.h"
#include "support/error.h"

namespace tessera::fuzz {
namespace {

using Numbers = std::vector<uint32_t>;

class Shrinker {
public:
    Shrinker(Numbers choices, const std::function<bool(const Program&)>& fails, int tries)
        : choices_(std::move(choices)), fails_(fails), tries_(tries) {
        Choices again(choices_);
        program_ = draw_program(again);
    }

    Program run() {
        while (tries_ > 0 && (shorter() || smaller())) {
        }
        while (tries_ > 0 && (without_outputs() || without_nodes())) {
        }
        return std::move(program_);
    }

private:
    bool accept(const Program& candidate) {
        if (tries_-- <= 0 || !fails_(candidate)) return false;
        program_ = candidate;
        return true;
    }

    bool accept(const Numbers& candidate) {
        Choices given(candidate);
        std::optional<Program> drawn;
        try {
            drawn = draw_program(given);
        } catch (const Error&) {
            return false;  // the generator is at fault, which is another failure
        }
        const Numbers& taken = given.taken();
        const bool is_simpler =
            taken.size() < choices_.size() || (taken.size() == choices_.size() && taken < choices_);
        if (!is_simpler || !accept(*drawn)) return false;
        choices_ = taken;
        return true;
    }

    /// Takes out runs of choices, long ones first.
    bool shorter() {
        bool was_shortened = false;
        for (size_t length = choices_.size() / 2; length > 0; length /= 2) {
            for (size_t at = 0; at + length <= choices_.size() && tries_ > 0;) {
                Numbers candidate = choices_;
                const auto begin = candidate.begin() + static_cast<int64_t>(at);
                candidate.erase(begin, begin + static_cast<int64_t>(length));
                if (accept(candidate))
                    was_shortened = true;
                else
                    at += length;
            }
        }
        return was_shortened;
    }

    bool smaller() {
        bool was_changed = false;
        for (size_t at = 0; at < choices_.size() && tries_ > 0; ++at) {
            for (const uint32_t number : {0u, choices_[at] / 2, choices_[at] - 1}) {
                if (at >= choices_.size() || choices_[at] == 0 || number >= choices_[at]) continue;
                Numbers candidate = choices_;
                candidate[at] = number;
                was_changed |= accept(candidate);
            }
        }
        return was_changed;
    }

    bool without_outputs() {
        for (size_t o = 0; program_.graph.outputs.size() > 1 && o < program_.graph.outputs.size(); ++o) {
            Program candidate = program_;
            candidate.graph.outputs.erase(candidate.graph.outputs.begin() + static_cast<int64_t>(o));
            drop_unused(candidate);
            if (accept(candidate)) return true;
        }
        return false;
    }

    /// Turns the results of a node into inputs, or removes the node if nothing needs it then.
    bool without_nodes() {
        for (size_t n = 0; n < program_.graph.blocks.front().nodes.size(); ++n) {
            if (const auto candidate = with_inputs_for(n); candidate && accept(*candidate)) return true;
        }
        return false;
    }

    std::optional<Program> with_inputs_for(size_t n) const {
        Program candidate = program_;
        Graph& graph = candidate.graph;
        Block& block = graph.blocks.front();
        const std::vector<ValueId> made = block.nodes[n].results;
        const std::vector<TensorData> values = values_of(program_);
        for (const ValueId id : made) {
            const bool is_kept = std::ranges::count(graph.outputs, id) > 0 ||
                                 std::ranges::any_of(block.states, [&](const StateUpdate& update) {
                                     return update.after == id;
                                 });
            Value& value = graph.values[static_cast<size_t>(id.index)];
            if (is_kept || bits(value.type.element) < 8) return {};
            value.kind = ValueKind::kInput;
            value.type.rounding = Rounding::kExact;
            candidate.inputs[value.name] = values[static_cast<size_t>(id.index)];
        }
        block.nodes.erase(block.nodes.begin() + static_cast<int64_t>(n));
        candidate.kinds.erase(candidate.kinds.begin() + static_cast<int64_t>(n));
        drop_unused(candidate);
        return candidate;
    }

    Numbers choices_;
    const std::function<bool(const Program&)>& fails_;
    int tries_;
    Program program_;
};

}  // namespace

Program shrink(const std::vector<uint32_t>& choices, const std::function<bool(const Program&)>& fails,
               int tries) {
    return Shrinker(choices, fails, tries).run();
}

}  // namespace tessera::fuzz
