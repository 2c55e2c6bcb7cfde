#include "distribution/choices.h"

#include <algorithm>
#include <map>
#include <optional>

#include "facts/linear.h"
#include "facts/touched.h"
#include "facts/work.h"
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

class ChoiceTree {
public:
    ChoiceTree(const Problem& problem, const Operator& op)
        : problem_(problem),
          bound_(op.bound),
          splits_(op.bound),
          linear_(facts::derive_linear(op.bound)),
          touched_(facts::derive_touched(op.bound)) {
        const facts::Work work = facts::derive_work(op.bound);
        operations_ = static_cast<double>(work.flops) + static_cast<double>(work.special);
        forms_.resize(bound_.definition.tensors.size());
    }

    std::vector<Choice> run() {
        const Share whole = facts::whole_share(bound_);
        extend({&whole, 1});
        std::vector<Choice> found;
        for (auto& [forms, choice] : best_) found.push_back(std::move(choice));
        return found;
    }

private:
    // What a sequence of split iterators leaves.
    struct Level {
        std::optional<Signature> signature;
        std::vector<Share> parts;
    };
    using Path = std::vector<std::pair<int, int64_t>>;  ///< iterators with counts, the outermost first

    void extend(std::span<const Share> groups) {
        if (chosen_.size() == problem_.placement.rank()) return finish();
        descend({LevelChoice::Kind::kBroadcast, -1}, Signature(forms_.size()), groups);
        for (size_t t = 0; t < linear_.size(); ++t)
            if (linear_[t]) descend({LevelChoice::Kind::kLinear, static_cast<int>(t)}, *linear_[t], groups);
        const int64_t count = problem_.placement.levels[chosen_.size()].count;
        for (size_t i = 0; i < bound_.extents.iterators.size(); ++i) {
            const int iterator = static_cast<int>(i);
            if (groups[0].iterations[i].size() % count != 0) continue;
            path_.emplace_back(iterator, count);
            const auto [at, is_new] = known_.try_emplace(path_);
            Level& level = at->second;
            if (is_new) {
                level.signature = splits_.split(groups, iterator, count, facts::Cut::kEvenly);
                if (level.signature)
                    level.parts = facts::Splits::parts(groups, *level.signature, iterator, count);
            }
            if (level.signature)
                descend({LevelChoice::Kind::kIterator, iterator}, *level.signature, level.parts);
            path_.pop_back();
        }
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
        const double seconds = seconds_of();
        const auto [at, is_new] = best_.try_emplace(forms_, Choice{chosen_, forms_, seconds});
        if (!is_new && seconds < at->second.seconds) at->second = {chosen_, forms_, seconds};
        if (best_.size() > kMostChoices)
            throw Error(bound_.where, bound_.definition.name,
                        fmt::format("can be distributed in more than {} ways", kMostChoices),
                        "take fewer levels of devices");
    }

    double seconds_of() const {
        const std::vector<distribution::Level>& levels = problem_.placement.levels;
        double sharers = 1;
        for (size_t l = 0; l < levels.size(); ++l)
            if (chosen_[l].kind == LevelChoice::Kind::kIterator)
                sharers *= static_cast<double>(levels[l].count);
        double bytes = 0;
        for (size_t t = 0; t < forms_.size(); ++t)
            bytes += static_cast<double>(touched_[t].bytes) /
                     static_cast<double>(parts(forms_[t], problem_.placement));
        return std::max(operations_ / sharers / problem_.flops_per_second, bytes / problem_.bytes_per_second);
    }

    const Problem& problem_;
    const facts::BoundDefinition& bound_;
    facts::Splits splits_;
    std::vector<std::optional<Signature>> linear_;
    std::vector<facts::Touched> touched_;
    double operations_ = 0;

    std::vector<LevelChoice> chosen_;  ///< by the levels so far
    std::vector<Form> forms_;          ///< of each tensor, an entry for each level so far
    Path path_;
    std::map<Path, Level> known_;
    std::map<std::vector<Form>, Choice> best_;
};

}  // namespace

std::string text(const LevelChoice& choice, const Definition& definition) {
    switch (choice.kind) {
        case LevelChoice::Kind::kBroadcast:
            return "B";
        case LevelChoice::Kind::kIterator:
            return definition.iterators[static_cast<size_t>(choice.index)].name;
        case LevelChoice::Kind::kLinear:
            return "linear " + definition.tensors[static_cast<size_t>(choice.index)].name;
    }
    return "";
}

std::vector<Choice> derive_choices(const Problem& problem, const Operator& op) {
    return ChoiceTree(problem, op).run();
}

}  // namespace tessera::distribution
