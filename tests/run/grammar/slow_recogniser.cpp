#include "run/grammar/slow_recogniser.h"

#include <map>
#include <set>
#include <utility>

namespace tessera::grammar {
namespace {

using Ends = std::set<size_t>;

/// Ends of a part that begins at a place, by the definition of each kind; what is under way counts as
/// nothing, and rules are tried again until nothing more is found.
class Recogniser {
public:
    Recogniser(const RuleSet& rules, std::string_view text) : rules_(rules) {
        for (size_t at = 0; at < text.size();) {
            const auto lead = static_cast<unsigned char>(text[at]);
            const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
            char32_t code_point = length == 1 ? lead : lead & (0x7f >> length);
            for (size_t i = 1; i < length; ++i)
                code_point = (code_point << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3f);
            characters_.push_back(code_point);
            bytes_.emplace_back(text.substr(at, length));
            at += length;
        }
    }

    bool recognises() {
        for (size_t before = 1; before != found_;) {
            before = found_;
            is_tried_.clear();
            ends_of_rule(rules_.root, 0);
        }
        return known_[{rules_.root, 0}].contains(characters_.size());
    }

private:
    Ends ends_of_rule(RuleId rule, size_t at) {
        if (!is_tried_.insert({rule, at}).second) return known_[{rule, at}];
        for (const size_t end : ends(rules_.rules[rule].body, at))
            if (known_[{rule, at}].insert(end).second) ++found_;
        return known_[{rule, at}];
    }

    Ends after(const Ends& places, NodeId part) {
        Ends result;
        for (const size_t place : places) result.merge(ends(part, place));
        return result;
    }

    Ends ends(NodeId id, size_t at) {
        const Node& node = rules_.nodes[id];
        if (const auto* literal = std::get_if<Literal>(&node)) {
            std::string read;
            for (; read.size() < literal->bytes.size() && at < bytes_.size(); ++at) read += bytes_[at];
            return read == literal->bytes ? Ends{at} : Ends{};
        }
        if (const auto* characters = std::get_if<CharacterClass>(&node)) {
            if (at < characters_.size())
                for (const CodePointRange& range : characters->ranges)
                    if (range.first <= characters_[at] && characters_[at] <= range.last) return {at + 1};
            return {};
        }
        if (const auto* sequence = std::get_if<Sequence>(&node)) {
            Ends places = {at};
            for (const NodeId part : sequence->parts) places = after(places, part);
            return places;
        }
        if (const auto* choice = std::get_if<Choice>(&node)) {
            Ends result;
            for (const NodeId part : choice->parts) result.merge(ends(part, at));
            return result;
        }
        if (const auto* reference = std::get_if<Reference>(&node)) return ends_of_rule(reference->rule, at);
        if (const auto* network = std::get_if<Network>(&node)) return ends_of_network(*network, at);
        const auto& repetition = std::get<Repetition>(node);
        Ends places = {at};
        for (int64_t i = 0; i < repetition.least; ++i) places = after(places, repetition.part);
        Ends all = places;
        for (int64_t i = repetition.least; !repetition.most || i < *repetition.most; ++i) {
            places = after(places, repetition.part);
            const size_t before = all.size();
            all.insert(places.begin(), places.end());
            if (all.size() == before) break;
        }
        return all;
    }

    Ends ends_of_network(const Network& network, size_t at) {
        Ends result;
        std::set<std::pair<size_t, size_t>> seen;  // of states and places
        std::vector<std::pair<size_t, size_t>> open;
        if (!network.states.empty()) open.emplace_back(0, at);
        while (!open.empty()) {
            const auto [state, place] = open.back();
            open.pop_back();
            if (!seen.insert({state, place}).second) continue;
            if (network.states[state].is_final) result.insert(place);
            for (const Network::Edge& edge : network.states[state].edges)
                for (const size_t end : ends(edge.part, place)) open.emplace_back(edge.target, end);
        }
        return result;
    }

    const RuleSet& rules_;
    std::vector<char32_t> characters_;
    std::vector<std::string> bytes_;
    std::map<std::pair<RuleId, size_t>, Ends> known_;
    std::set<std::pair<RuleId, size_t>> is_tried_;
    size_t found_ = 0;
};

}  // namespace

bool recognises(const RuleSet& rules, std::string_view text) {
    return Recogniser(rules, text).recognises();
}

}  // namespace tessera::grammar
