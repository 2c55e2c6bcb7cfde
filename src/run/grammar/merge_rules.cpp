#include "run/grammar/merge_rules.h"

#include <utility>

namespace tessera::grammar {
namespace {

/// Moves what a node refers to behind the nodes and rules that are there already.
class Shift {
public:
    explicit Shift(const RuleSet& into)
        : nodes_(static_cast<NodeId>(into.nodes.size())), rules_(static_cast<RuleId>(into.rules.size())) {}

    NodeId node(NodeId id) const { return id + nodes_; }
    RuleId rule(RuleId id) const { return id + rules_; }

    void operator()(Literal&) const {}
    void operator()(CharacterClass&) const {}
    void operator()(Sequence& sequence) const { parts(sequence.parts); }
    void operator()(Choice& choice) const { parts(choice.parts); }
    void operator()(Repetition& repetition) const { repetition.part = node(repetition.part); }
    void operator()(Reference& reference) const { reference.rule = rule(reference.rule); }
    void operator()(Network& network) const {
        for (Network::State& state : network.states)
            for (Network::Edge& edge : state.edges) edge.part = node(edge.part);
    }

private:
    void parts(std::vector<NodeId>& ids) const {
        for (NodeId& id : ids) id = node(id);
    }

    NodeId nodes_;
    RuleId rules_;
};

}  // namespace

RuleId merge_rules(RuleSet& into, RuleSet other) {
    const Shift shift(into);
    for (Node& node : other.nodes) {
        std::visit(shift, node);
        into.nodes.push_back(std::move(node));
    }
    for (Rule& rule : other.rules) {
        rule.body = shift.node(rule.body);
        into.rules.push_back(std::move(rule));
    }
    return shift.rule(other.root);
}

}  // namespace tessera::grammar
