// Extraction minimises one number, but two things count, in this order: the cost, then the number of nodes
// that are not the graph's own. Costs become whole units, about 2^-36 of the block's present cost. A node
// weighs its units times more than any number of nodes, plus one if it is new. All weights are integers,
// which extraction adds exactly.
#include "search/rules/rewrite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "ir/graph_text.h"
#include "ir/ops/copy.h"
#include "search/egraph/block_terms.h"
#include "search/egraph/extraction.h"
#include "search/rules/algebra/algebra_rules.h"
#include "search/rules/fold_constants.h"
#include "support/error.h"

namespace tessera::rules {
namespace {

using egraph::BlockTerms;
using egraph::ClassId;
using egraph::EGraph;
using egraph::Leaf;
using egraph::Projection;
using egraph::TermId;

constexpr double kUnitsOfTheBlock = 0x1p36;
constexpr double kNewNodes = 0x1p14;  ///< more than a choice has; times the units still exact
/// Factor on operators that read joined constants: measured times vary by as much, and a smaller gain is not
/// worth joining.
constexpr double kJoined = 1.03;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The identity of an e-node under congruence.
using NodeKey = std::pair<egraph::OperatorId, std::vector<ClassId>>;

class BlockSearch {
public:
    BlockSearch(const Graph& graph, size_t block, std::span<const egraph::Rule> rules,
                const RewriteOptions& options)
        : graph_(graph), block_(block), rules_(rules), options_(options), folding_(graph, block) {}

    /// The block's report, and the graph if it changed.
    std::pair<BlockRewrite, std::optional<Graph>> run() {
        terms_ = add_block(egraph_, graph_, graph_.blocks[block_]);
        report_.block = graph_.blocks[block_].name;
        report_.saturation = saturate(egraph_, rules_, options_.saturation);
        note_own_nodes();
        report_.cost_after = report_.bound = report_.cost_before;
        const std::vector<ValueId> needed = egraph::needed_values(graph_, block_);
        std::vector<TermId> roots;
        for (const ValueId value : needed) {
            roots.push_back(terms_.values.at(value));
            if (has_leaf(roots.back()))
                report_.why_kept = graph_[value].name + " would be what the block reads";
        }
        if (roots.empty() || !report_.why_kept.empty()) return {report_, std::nullopt};
        std::optional<Graph> changed = extract(roots);
        if (!changed) return {report_, std::nullopt};
        if (auto folded = folding_.fold(*std::move(changed))) return {report_, std::move(folded)};
        folds_ = false;
        std::erase_if(costs_, [&](const auto& cost) { return !own_.contains(cost.first); });
        return {report_, extract(roots)};
    }

private:
    NodeKey key_of(TermId node) const {
        NodeKey key{egraph_.term(node).op, {}};
        for (const TermId child : egraph_.term(node).children) key.second.push_back(egraph_.find(child));
        return key;
    }

    bool has_leaf(TermId root) const {
        const std::vector<TermId>& nodes = egraph_.nodes(egraph_.find(root));
        return std::any_of(nodes.begin(), nodes.end(),
                           [&](TermId node) { return std::holds_alternative<Leaf>(egraph_.op(node).what); });
    }

    void note_own_nodes() {
        for (const Node& node : graph_.blocks[block_].nodes) {
            TermId term = terms_.values.at(node.results.front());
            if (node.results.size() > 1) term = egraph_.term(term).children.front();
            if (!own_.insert(key_of(term)).second) {
                repeated_cost_ += cost(term);  // computed twice as the graph stands
                continue;
            }
            own_cost_ += cost(term);
        }
        report_.cost_before = own_cost_ + repeated_cost_;
    }

    double cost(TermId node) {
        const egraph::Operator& op = egraph_.op(node);
        if (std::holds_alternative<Leaf>(op.what) || std::holds_alternative<Projection>(op.what)) return 0;
        const auto known = costs_.find(key_of(node));
        if (known != costs_.end()) return known->second;
        if (folds_ && !own_.contains(key_of(node)) && folding_.folds(egraph_, node))
            return costs_.emplace(key_of(node), 0).first->second;
        std::vector<TensorType> operands;
        for (const TermId child : egraph_.term(node).children)
            operands.push_back(egraph_.facts(child).types.front());
        double cost = price(node, operands);
        if (folds_ && !own_.contains(key_of(node)) && reads_joined(node)) cost *= kJoined;
        TESSERA_CHECK(cost >= 0, "{} costs {}", label(op), cost);
        return costs_.emplace(key_of(node), cost).first->second;
    }

    /// The cost of the operator by itself: many e-nodes share it, with operands of the same types.
    double price(TermId node, std::span<const TensorType> operands) {
        std::string key = fmt::format("{}", egraph_.term(node).op.index);
        for (const TensorType& type : operands) key += "; " + tessera::print(type);
        const auto [known, is_new] = prices_.try_emplace(std::move(key));
        if (is_new) known->second = options_.cost(egraph_.op(node), operands);
        return known->second;
    }

    bool reads_joined(TermId node) {
        const std::vector<TermId>& children = egraph_.term(node).children;
        return std::any_of(children.begin(), children.end(), [&](TermId child) {
            const std::vector<TermId>& nodes = egraph_.nodes(egraph_.find(child));
            return egraph_.facts(child).is_constant &&
                   std::any_of(nodes.begin(), nodes.end(),
                               [&](TermId each) { return folding_.folds(egraph_, each); });
        });
    }

    /// The cost in whole units; at least one if it is not zero.
    double units(double cost) const { return cost == 0 ? 0 : std::max(1.0, std::round(cost / unit_)); }

    double weight(TermId node) {
        const double price = cost(node);
        if (std::isinf(price)) return kInfinite;
        const double whole = units(price);
        if (std::isfinite(report_.cost_before) && whole > 2 * kUnitsOfTheBlock) return kInfinite;
        const bool is_free = std::holds_alternative<Leaf>(egraph_.op(node).what) ||
                             std::holds_alternative<Projection>(egraph_.op(node).what);
        return whole * kNewNodes + (is_free || own_.contains(key_of(node)) ? 0 : 1);
    }

    /// The cheapest choice as a block, if it costs less than the graph's.
    std::optional<Graph> extract(const std::vector<TermId>& roots) {
        set_unit();
        const egraph::ExtractionProblem problem =
            extraction_problem(egraph_, roots, [&](TermId node) { return weight(node); });
        const extraction::Result result =
            extraction::extract(problem.problem, {.conflicts = options_.conflicts});
        report_.status = result.status;
        if (result.choice.empty()) return std::nullopt;
        double after = cost_of_copies(), units_after = units(after);
        for (const int node : result.choice) {
            if (node < 0) continue;
            const double price = cost(problem.nodes[static_cast<size_t>(node)]);
            after += price;
            units_after += units(price);
        }
        report_.bound = result.status == extraction::Status::kOptimal
                            ? after
                            : std::min(after, std::floor(result.bound / kNewNodes) * unit_);
        report_.is_changed = units_after < units_before();
        report_.cost_after = report_.is_changed ? after : report_.cost_before;
        if (!report_.is_changed) return std::nullopt;
        return with_block(graph_, block_, egraph_, terms_, selection_of(problem, result.choice));
    }

    /// The cost of every choice beside its nodes.
    double cost_of_copies() const {
        double sum = 0;
        for (const egraph::CopiedValue& copy : copied_values(graph_, block_, egraph_, terms_)) {
            const TensorType& type = graph_[copy.of].type;
            sum += options_.cost(
                {.what = ops::copy(graph_.symbols, type), .results = {graph_[copy.value].type}}, {&type, 1});
        }
        return sum;
    }

    /// If the cost of the block itself is infinite, the sum of all finite costs takes its place.
    void set_unit() {
        double whole = report_.cost_before;
        if (std::isinf(whole)) {
            whole = 0;
            for (const ClassId e_class : egraph_.classes())
                for (const TermId node : egraph_.nodes(e_class))
                    if (const double price = cost(node); std::isfinite(price)) whole += price;
        }
        unit_ = whole > 0 ? whole / kUnitsOfTheBlock : 1;
    }

    double units_before() {
        if (std::isinf(report_.cost_before)) return kInfinite;
        double sum = units(repeated_cost_);
        for (const NodeKey& key : own_) sum += units(costs_.at(key));
        return sum;
    }

    const Graph& graph_;
    size_t block_;
    std::span<const egraph::Rule> rules_;
    const RewriteOptions& options_;
    ConstantFolding folding_;
    bool folds_ = true;  ///< the choice may join constants
    EGraph egraph_;
    BlockTerms terms_;
    std::set<NodeKey> own_;
    std::map<NodeKey, double> costs_;
    std::map<std::string, double> prices_;  ///< by operator and types of operands
    double own_cost_ = 0, repeated_cost_ = 0;
    double unit_ = 1;
    BlockRewrite report_;
};

}  // namespace

Rewritten rewrite(const Graph& graph, const RewriteOptions& options) {
    TESSERA_CHECK(options.cost, "a search without costs");
    std::vector<egraph::Rule> all;
    for (const rules::RuleEntry& entry : rules::algebra_rules(graph.symbols, options.without))
        all.push_back(entry.rule);
    Rewritten result{graph, {}};
    for (size_t i = 0; i < graph.blocks.size(); ++i) {
        auto [report, changed] = BlockSearch(result.graph, i, all, options).run();
        if (changed) result.graph = *std::move(changed);
        result.blocks.push_back(std::move(report));
    }
    return result;
}

std::string summary(const std::vector<BlockRewrite>& blocks) {
    int64_t nodes = 0;
    size_t changed = 0;
    bool is_saturated = true, is_optimal = true;
    for (const BlockRewrite& block : blocks) {
        nodes += block.saturation.nodes;
        changed += block.is_changed ? 1 : 0;
        is_saturated = is_saturated && block.saturation.stop == egraph::StopReason::kSaturated;
        is_optimal = is_optimal && block.status == extraction::Status::kOptimal;
    }
    return fmt::format(
        "{} e-nodes, {}, {}, {}", nodes, is_saturated ? "saturated" : "cut off",
        is_optimal ? "optimal" : "not proved optimal",
        changed == 0 ? "unchanged" : fmt::format("{} of {} blocks cheaper", changed, blocks.size()));
}

std::string cut_short(const std::vector<BlockRewrite>& blocks) {
    std::string text;
    for (const BlockRewrite& block : blocks) {
        const bool is_saturated = block.saturation.stop == egraph::StopReason::kSaturated;
        if (is_saturated && block.status == extraction::Status::kOptimal) continue;
        text += fmt::format("{}block {} {}", text.empty() ? "" : ", ", block.block,
                            is_saturated ? "was not proved to be the cheapest"
                                         : fmt::format("stopped at {} e-nodes, the {}",
                                                       block.saturation.nodes, name(block.saturation.stop)));
    }
    return text;
}

std::string print(const std::vector<BlockRewrite>& blocks) {
    std::string text;
    for (const BlockRewrite& block : blocks) {
        const egraph::SaturationReport& s = block.saturation;
        text += fmt::format("{}: {} after {} iterations, {} e-nodes in {} classes; {}, cost {:.4g} -> {:.4g}",
                            block.block, name(s.stop), s.iterations, s.nodes, s.classes, name(block.status),
                            block.cost_before, block.cost_after);
        if (block.status != extraction::Status::kOptimal)
            text += fmt::format(", at least {:.4g}", block.bound);
        if (!block.is_changed) text += block.why_kept.empty() ? ", unchanged" : ", kept: " + block.why_kept;
        text += '\n';
        for (const egraph::RuleReport& rule : s.rules)
            if (rule.unions > 0) text += fmt::format("  {}: {}\n", rule.name, rule.unions);
    }
    return text;
}

}  // namespace tessera::rules
