// An iteration first finds all matches of all rules, then applies them, then rebuilds: the order of the rules
// does not decide what is found.
#include "search/egraph/saturate.h"

#include <algorithm>

#include "search/egraph/matcher.h"
#include "support/error.h"

namespace tessera::egraph {
namespace {

class Saturation {
public:
    Saturation(EGraph& graph, std::span<const Rule> rules, const SaturationOptions& options)
        : graph_(graph), rules_(rules), options_(options), matcher_(graph), rests_until_(rules.size(), 0) {
        for (const Rule& rule : rules) report_.rules.push_back({.name = rule.name()});
    }

    SaturationReport run() {
        graph_.rebuild();
        report_.stop = iterate();
        graph_.rebuild();
        report_.nodes = graph_.node_count();
        report_.classes = graph_.class_count();
        return report_;
    }

private:
    StopReason iterate() {
        if (graph_.node_count() > options_.nodes) return StopReason::kNodes;
        for (; report_.iterations < options_.iterations; ++report_.iterations) {
            matcher_.refresh();
            const auto matches = find_matches();
            bool is_news = false;
            const int64_t terms_before = graph_.node_count();
            for (size_t i = 0; i < rules_.size(); ++i)
                for (const Match& match : matches[i]) {
                    is_news = apply(i, match) || is_news;
                    if (graph_.node_count() > options_.nodes) {
                        ++report_.iterations;
                        return StopReason::kNodes;
                    }
                }
            // A construction may add terms and unite nothing; they are news for the next iteration.
            is_news = is_news || graph_.node_count() != terms_before;
            graph_.rebuild();
            if (is_news) continue;
            if (!wake_resting()) {
                ++report_.iterations;
                return StopReason::kSaturated;
            }
        }
        return StopReason::kIterations;
    }

    std::vector<std::vector<Match>> find_matches() {
        std::vector<std::vector<Match>> matches(rules_.size());
        for (size_t i = 0; i < rules_.size(); ++i) {
            if (rests_until_[i] > report_.iterations) continue;
            RuleReport& report = report_.rules[i];
            const int doublings = std::min(report.rests, 40);
            const size_t most = options_.back_off.matches << doublings;
            matches[i] = matcher_.find(rules_[i].from(), most + 1);
            if (matches[i].size() > most) {
                matches[i].clear();
                rests_until_[i] =
                    report_.iterations + 1 + (options_.back_off.iterations << std::min(doublings, 20));
                ++report.rests;
                continue;
            }
            report.matches += static_cast<int64_t>(matches[i].size());
        }
        return matches;
    }

    bool apply(size_t i, const Match& match) {
        const Rule& rule = rules_[i];
        if (!rule.holds(graph_, match)) return false;
        bool is_news = false;
        for (const TermId made : rule.construct(graph_, match)) {
            if (graph_.find(made) == graph_.find(EGraph::any_term(match.root))) continue;
            graph_.unite(rule.matched(graph_, match), made, rule.name());
            ++report_.rules[i].unions;
            is_news = true;
        }
        return is_news;
    }

    /// Called when the active rules find nothing new: the resting rule that would come back first does so
    /// now.
    bool wake_resting() {
        int first = 0;
        for (const int until : rests_until_)
            if (until > report_.iterations + 1) first = first == 0 ? until : std::min(first, until);
        if (first == 0)
            return std::any_of(rests_until_.begin(), rests_until_.end(),
                               [&](int until) { return until == report_.iterations + 1; });
        const int skipped = first - (report_.iterations + 1);
        for (int& until : rests_until_)
            if (until > report_.iterations + 1) until -= skipped;
        return true;
    }

    EGraph& graph_;
    std::span<const Rule> rules_;
    const SaturationOptions& options_;
    Matcher matcher_;
    std::vector<int> rests_until_;  ///< iteration in which the rule takes part again
    SaturationReport report_;
};

}  // namespace

std::string_view name(StopReason reason) {
    switch (reason) {
        case StopReason::kSaturated:
            return "saturated";
        case StopReason::kNodes:
            return "limit of nodes";
        case StopReason::kIterations:
            return "limit of iterations";
    }
    TESSERA_CHECK(false);
}

SaturationReport saturate(EGraph& graph, std::span<const Rule> rules, const SaturationOptions& options) {
    return Saturation(graph, rules, options).run();
}

}  // namespace tessera::egraph
