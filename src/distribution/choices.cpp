#include "distribution/choices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/core.h>

#include "ir/facts/linear.h"
#include "ir/facts/touched.h"
#include "ir/facts/work.h"
#include "machine/published_models.h"
#include "support/error.h"

// A level sees what the outer levels have left. The choices are a tree, walked from the outermost level
// inwards, with the shares of all groups at hand:
//
//   whole  --- m --->  2 groups, each half of m and of the axes that follow it
//          --- k --->  2 groups, each half of k; the result is P(sum)
//          --- B --->  the same group
//
// A level that splits no iterator leaves the shares as they are, so that the question about an iterator is
// asked once for each sequence of iterators that outer levels have split.

namespace tessera::distribution {
namespace {

using facts::Share;
using facts::Signature;

/// Choices by what the levels do, in the order in which they are tried.
using ChoiceKey = std::vector<std::tuple<int, int, int64_t>>;
using Choices = std::map<ChoiceKey, Choice>;

constexpr size_t kMostPaths = 16 * kMostChoices;  ///< to choices, of which many have the same forms

[[noreturn]] void refuse(const facts::BoundDefinition& bound) {
    throw Error(bound.where, bound.definition.name,
                fmt::format("can be distributed in more than {} ways", kMostChoices),
                "take fewer levels of devices");
}

class ChoiceTree {
public:
    ChoiceTree(const Problem& problem, const Operator& op, const facts::BoundDefinition& bound)
        : problem_(problem),
          op_(op),
          bound_(bound),
          splits_(bound),
          linear_(facts::derive_linear(bound)),
          touched_(facts::derive_touched(bound)) {
        const facts::Work work = facts::derive_work(bound);
        operations_ = static_cast<double>(work.flops) + static_cast<double>(work.special);
        forms_.resize(bound_.definition.tensors.size());
    }

    Choices run() {
        const Share whole = facts::whole_share(bound_);
        extend({&whole, 1});
        return std::move(found_);
    }

private:
    // The shares that are left after a sequence of split iterators.
    struct Level {
        std::optional<Signature> signature;
        std::vector<Share> parts;
    };
    /// Iterators with counts and grains, the outermost first.
    using Path = std::vector<std::tuple<int, int64_t, int64_t>>;

    void extend(std::span<const Share> groups) {
        if (chosen_.size() == problem_.placement.rank()) return finish();
        descend({LevelChoice::Kind::kBroadcast, -1}, Signature(forms_.size()), groups);
        for (size_t t = 0; t < linear_.size(); ++t)
            if (linear_[t]) descend({LevelChoice::Kind::kLinear, static_cast<int>(t)}, *linear_[t], groups);
        const int64_t count = problem_.placement.levels[chosen_.size()].count;
        for (size_t i = 0; i < bound_.extents.iterators.size(); ++i) {
            if (!op_.may_split.empty() && !op_.may_split[i]) continue;
            split(static_cast<int>(i), count, 1, groups);
            if (op_.grains.empty()) continue;
            for (const int64_t grain : op_.grains[i])
                if (grain > 1) split(static_cast<int>(i), count, grain, groups);
        }
    }

    void split(int iterator, int64_t count, int64_t grain, std::span<const Share> groups) {
        bool is_even = true;
        for (const Share& group : groups) {
            const int64_t size = group.iterations[static_cast<size_t>(iterator)].size();
            if (!facts::can_cut(size, count, problem_.cut, grain)) return;
            is_even = is_even && size / grain % count == 0;
        }
        if (grain > 1 && is_even) return;  // as of grain 1
        path_.emplace_back(iterator, count, grain);
        const auto [at, is_new] = known_.try_emplace(path_);
        Level& level = at->second;
        if (is_new) {
            level.signature = splits_.split(groups, iterator, count, problem_.cut, grain);
            if (level.signature)
                level.parts = facts::Splits::parts(groups, *level.signature, iterator, count, grain);
        }
        if (level.signature)
            descend({LevelChoice::Kind::kIterator, iterator, grain}, *level.signature, level.parts);
        path_.pop_back();
    }

    void descend(const LevelChoice& choice, const Signature& signature, std::span<const Share> groups) {
        chosen_.push_back(choice);
        for (size_t t = 0; t < forms_.size(); ++t) forms_[t].push_back(signature[t]);
        if (std::ranges::all_of(forms_, has_one_monoid)) extend(groups);
        for (Form& form : forms_) form.pop_back();
        chosen_.pop_back();
    }

    static bool has_one_monoid(const Form& form) {
        Monoid monoid = Monoid::kNone;
        for (const Sbp& entry : form) {
            if (entry.kind != Sbp::Kind::kPartial) continue;
            if (monoid != Monoid::kNone && monoid != entry.monoid) return false;
            monoid = entry.monoid;
        }
        return true;
    }

    void finish() {
        if (op_.allows && !op_.allows(forms_)) return;
        ChoiceKey key;
        for (const LevelChoice& level : chosen_) {
            const bool is_iterator = level.kind == LevelChoice::Kind::kIterator;
            key.emplace_back(is_iterator                                ? 2
                             : level.kind == LevelChoice::Kind::kLinear ? 1
                                                                        : 0,
                             level.index, level.grain);
        }
        found_.emplace(std::move(key), Choice{chosen_, forms_, seconds_of()});
        if (found_.size() > kMostPaths) refuse(bound_);
    }

    // The time of the device with the largest part.
    double seconds_of() const {
        const std::vector<distribution::Level>& levels = problem_.placement.levels;
        double share = 1;
        std::vector<int64_t> left = bound_.extents.iterators;
        for (size_t l = 0; l < levels.size(); ++l) {
            if (chosen_[l].kind != LevelChoice::Kind::kIterator) continue;
            int64_t& extent = left[static_cast<size_t>(chosen_[l].index)];
            const int64_t most = facts::largest_part(extent, levels[l].count, chosen_[l].grain);
            share *= static_cast<double>(most) / static_cast<double>(extent);
            extent = most;
        }
        double bytes = 0;
        for (size_t t = 0; t < forms_.size(); ++t)
            bytes += problem_.cut == facts::Cut::kEvenly
                         ? static_cast<double>(touched_[t].bytes) /
                               static_cast<double>(parts(forms_[t], problem_.placement))
                         : static_cast<double>(touched_[t].bytes) *
                               largest_share(forms_[t], bound_.extents.shapes[t], problem_.placement);
        return machine::roofline_seconds(operations_ * share, bytes,
                                         {problem_.bytes_per_second, problem_.flops_per_second});
    }

    const Problem& problem_;
    const Operator& op_;
    const facts::BoundDefinition& bound_;
    facts::Splits splits_;
    std::vector<std::optional<Signature>> linear_;
    std::vector<facts::Touched> touched_;
    double operations_ = 0;

    std::vector<LevelChoice> chosen_;  ///< by the levels so far
    std::vector<Form> forms_;          ///< of each tensor, an entry for each level so far
    Path path_;
    std::map<Path, Level> known_;
    Choices found_;
};

// The choices that are true with the same forms at all sizes; their times add up.
Choices choices_at_points(const Problem& problem, const Operator& op, Choices found) {
    for (auto& [key, choice] : found) choice.seconds = 0;
    for (const OperatorAt& point : op.points) {
        const Choices here = ChoiceTree(problem, op, point.bound).run();
        for (auto at = found.begin(); at != found.end();) {
            const auto same = here.find(at->first);
            const bool is_true = same != here.end() && same->second.forms == at->second.forms;
            if (is_true) at->second.seconds += point.times * same->second.seconds;
            at = is_true ? std::next(at) : found.erase(at);
        }
    }
    return found;
}

}  // namespace

std::string text(const LevelChoice& choice, const Definition& definition) {
    switch (choice.kind) {
        case LevelChoice::Kind::kBroadcast:
            return "B";
        case LevelChoice::Kind::kIterator:
            return definition.iterators[static_cast<size_t>(choice.index)].name +
                   (choice.grain == 1 ? "" : fmt::format(":{}", choice.grain));
        case LevelChoice::Kind::kLinear:
            return "linear " + definition.tensors[static_cast<size_t>(choice.index)].name;
    }
    return "";
}

std::vector<Choice> derive_choices(const Problem& problem, const Operator& op) {
    Choices found = ChoiceTree(problem, op, op.bound).run();
    if (!op.points.empty()) found = choices_at_points(problem, op, std::move(found));
    std::map<std::vector<Form>, Choice> best;
    for (auto& [key, choice] : found) {
        const auto [at, is_new] = best.try_emplace(choice.forms, choice);
        if (!is_new && choice.seconds < at->second.seconds) at->second = choice;
        if (best.size() > kMostChoices) refuse(op.bound);
    }
    std::vector<Choice> choices;
    for (auto& [forms, choice] : best) choices.push_back(std::move(choice));
    return choices;
}

}  // namespace tessera::distribution
