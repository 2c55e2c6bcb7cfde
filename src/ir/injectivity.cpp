#include "ir/injectivity.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "ir/box_walk.h"
#include "ir/checked_arithmetic.h"
#include "ir/iterator_use.h"
#include "ir/quasi_affine.h"

/// A map is injective if its coordinates determine every iterator. The set of determined iterators grows to a
/// fixed point:
///
///     out Y[slot[t] div 16, slot[t] mod 16, 8 h + d]      both parts of slot[t] determine slot[t];
///                                                         slot holds distinct values, so it determines t;
///                                                         8 h + d with d < 8: h, and then d
///
/// In a component only the terms that are not determined yet matter, since the rest is constant. The
/// remaining terms fall into groups of components without a common iterator: each is enumerated by itself,
/// and without a predicate a collision in one of them is a collision of the map. Only then is the box walked.
namespace tessera {
namespace {

using Kind = QuasiAtom::Kind;

/// For one group of components; about a second.
constexpr int64_t kMostGroupPoints = int64_t{1} << 20;
/// For the whole box; about a second.
constexpr int64_t kMostComparisons = int64_t{1} << 22;

class Determination {
public:
    Determination(const Definition& definition, const BoundExtents& extents, BodyValue& point,
                  const std::string& where)
        : extents_(extents),
          where_(where),
          point_(point),
          has_predicate_(definition.where != nullptr),
          is_determined_(extents.iterators.size()) {
        for (size_t i = 0; i < is_determined_.size(); ++i) is_determined_[i] = extents.iterators[i] == 1;
        for (const ExprPtr& component :
             definition.tensors[static_cast<size_t>(definition.results().front())].map) {
            components_.push_back(quasi_affine(component, extents.dims, extents.iterators, where));
        }
    }

    StoreCollision run() {
        bool has_changed = true;
        while (has_changed) {
            has_changed = false;
            for (size_t i = 0; i < components_.size(); ++i) has_changed |= use(rest(components_[i]));
            has_changed |= join_quotients();
        }
        StoreCollision whole = StoreCollision::kNone;
        for (const std::vector<QuasiAffine>& group : independent_groups()) {
            const StoreCollision part = enumerate(group);
            if (part == StoreCollision::kFound) return part;
            if (part == StoreCollision::kUnknown) whole = part;
        }
        // An iterator that no component uses.
        const bool is_complete = std::ranges::all_of(is_determined_, [](bool is) { return is; });
        return is_complete ? whole : StoreCollision::kUnknown;
    }

private:
    bool is_free(int iterator) const { return !is_determined_[static_cast<size_t>(iterator)]; }

    /// The terms that hold an iterator which is not determined.
    QuasiAffine rest(const QuasiAffine& form) const {
        QuasiAffine found;
        for (const QuasiTerm& term : form.terms) {
            const std::vector<int> iterators = iterators_in(QuasiAffine{0, {term}});
            if (std::ranges::any_of(iterators, [&](int i) { return is_free(i); }))
                found.terms.push_back(term);
        }
        return found;
    }

    /// An iterator whose stride is larger than all that the other terms span together is determined: in 8 h +
    /// d with d < 8 first h, then d.
    bool use(const QuasiAffine& form) {
        for (size_t i = 0; i < form.terms.size(); ++i) {
            const QuasiTerm& term = form.terms[i];
            if (term.atom.kind != Kind::kIterator) continue;
            QuasiAffine others = form;
            others.terms.erase(others.terms.begin() + static_cast<std::ptrdiff_t>(i));
            const IntegerInterval span = enclosing_range(others, extents_.iterators, where_);
            if (std::abs(term.coefficient) <= span.high - span.low) continue;
            is_determined_[static_cast<size_t>(term.atom.iterator)] = true;
            return true;
        }
        return false;
    }

    /// The undetermined terms of the components, in groups that share no free iterator.
    std::vector<std::vector<QuasiAffine>> independent_groups() const {
        std::vector<std::vector<QuasiAffine>> groups;
        std::vector<std::vector<int>> iterators;
        for (const QuasiAffine& component : components_) {
            const QuasiAffine open = rest(component);
            if (open.terms.empty()) continue;
            std::vector<QuasiAffine> merged{open};
            std::vector<int> used = free_iterators(open);
            for (size_t g = groups.size(); g > 0; --g) {
                const std::vector<int>& other = iterators[g - 1];
                if (!std::ranges::any_of(other,
                                         [&](int i) { return std::ranges::find(used, i) != used.end(); }))
                    continue;
                merged.insert(merged.end(), groups[g - 1].begin(), groups[g - 1].end());
                used.insert(used.end(), other.begin(), other.end());
                groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(g - 1));
                iterators.erase(iterators.begin() + static_cast<std::ptrdiff_t>(g - 1));
            }
            groups.push_back(std::move(merged));
            iterators.push_back(std::move(used));
        }
        return groups;
    }

    std::vector<int> free_iterators(const QuasiAffine& form) const {
        std::vector<int> found = iterators_in(form);
        std::erase_if(found, [&](int i) { return !is_free(i); });
        return found;
    }

    /// Every point of the group's iterators, with its values as key; equal keys stand side by side once
    /// sorted.
    StoreCollision enumerate(const std::vector<QuasiAffine>& group) {
        std::vector<int> iterators;
        for (const QuasiAffine& form : group) {
            for (int i : iterators_in(form)) {
                if (std::ranges::find(iterators, i) == iterators.end()) iterators.push_back(i);
            }
        }
        const BoxWalk walk(extents_.iterators, iterators);
        if (walk.count() > kMostGroupPoints) return StoreCollision::kUnknown;
        std::vector<std::vector<int64_t>> keys;
        walk.start(point_.iterators);
        do {
            std::vector<int64_t> key;
            for (const QuasiAffine& form : group) key.push_back(value(form));
            // Determined iterators are the same in both of two iterations that collide.
            for (int i : iterators) {
                if (!is_free(i)) key.push_back(point_.iterators[static_cast<size_t>(i)]);
            }
            keys.push_back(std::move(key));
        } while (walk.next(point_.iterators));
        std::vector<size_t> order(keys.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::ranges::sort(order,
                          [&](size_t a, size_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
        const auto same_key = [&](size_t a, size_t b) { return keys[a] == keys[b]; };
        const auto equal = std::ranges::adjacent_find(order, same_key);
        if (equal == order.end()) {
            for (int i : iterators) is_determined_[static_cast<size_t>(i)] = true;
            return StoreCollision::kNone;
        }
        walk.start(point_.iterators);
        for (size_t n = 0; n < *std::next(equal); ++n) walk.next(point_.iterators);
        return has_predicate_ ? StoreCollision::kUnknown : StoreCollision::kFound;
    }

    int64_t value(const QuasiAffine& form) const {
        int64_t sum = form.constant;
        for (const QuasiTerm& term : form.terms) sum += term.coefficient * value(term.atom);
        return sum;
    }

    int64_t value(const QuasiAtom& atom) const {
        if (atom.kind == Kind::kIterator) return point_.iterators[static_cast<size_t>(atom.iterator)];
        if (atom.kind == Kind::kRead) return point_.coordinate(*atom.read);
        const int64_t inner = value(*atom.inner);
        const int64_t remainder = ((inner % atom.divisor) + atom.divisor) % atom.divisor;
        return atom.kind == Kind::kMod ? remainder : (inner - remainder) / atom.divisor;
    }

    /// e div c and e mod c together determine e.
    bool join_quotients() {
        std::vector<QuasiAtom> singles;
        for (const QuasiAffine& component : components_) {
            const QuasiAffine open = rest(component);
            if (open.terms.size() == 1 && open.terms[0].atom.inner) singles.push_back(open.terms[0].atom);
        }
        for (const QuasiAtom& quotient : singles) {
            for (const QuasiAtom& remainder : singles) {
                if (quotient.kind != Kind::kFloorDiv || remainder.kind != Kind::kMod ||
                    quotient.divisor != remainder.divisor)
                    continue;
                if (!same(*quotient.inner, *remainder.inner)) continue;
                const bool is_known = std::ranges::any_of(
                    components_, [&](const QuasiAffine& c) { return same(c, *quotient.inner); });
                if (is_known) continue;
                components_.push_back(*quotient.inner);
                return true;
            }
        }
        return false;
    }

    const BoundExtents& extents_;
    const std::string& where_;
    BodyValue& point_;
    bool has_predicate_;
    std::vector<bool> is_determined_;
    std::vector<QuasiAffine> components_;
};

/// The box, halved along its longest side until it can be searched.
std::vector<int64_t> searchable(std::vector<int64_t> extents) {
    const auto count = [&] {
        double points = 1;
        for (int64_t extent : extents) points *= static_cast<double>(extent);
        return points;
    };
    while (count() > static_cast<double>(kMostComparisons)) {
        int64_t& longest = *std::ranges::max_element(extents);
        longest = (longest + 1) / 2;
    }
    return extents;
}

}  // namespace

StoreCollision find_store_collision(const Definition& definition, const BoundExtents& extents,
                                    BodyValue& point, const std::string& where) {
    const StoreCollision by_form = Determination(definition, extents, point, where).run();
    if (by_form != StoreCollision::kUnknown) return by_form;
    const int result = definition.results().front();
    const std::vector<int64_t> searched = searchable(extents.iterators);
    std::vector<int> all(extents.iterators.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    std::unordered_set<int64_t> written;
    BoxWalk walk(searched, all);
    walk.start(point.iterators);
    do {
        if (definition.where && point.value(*definition.where) == 0) continue;
        const auto position = point.position(result, definition.tensors[static_cast<size_t>(result)].map);
        if (position && !written.insert(*position).second) return StoreCollision::kFound;
    } while (walk.next(point.iterators));
    return searched == extents.iterators ? StoreCollision::kNone : StoreCollision::kUnknown;
}

bool sets_all_elements(const Definition& definition) {
    if (definition.monoid == Monoid::kNone) return false;
    const std::vector<ExprPtr>& map =
        definition.tensors[static_cast<size_t>(definition.results().back())].map;
    return std::ranges::none_of(
        iterators_in(map), [&](int x) { return definition.iterators[static_cast<size_t>(x)].is_reduction; });
}

StoredPart stored_part(const Definition& definition, const BoundExtents& extents) {
    StoredPart part{definition, extents};
    if (sets_all_elements(definition)) part.definition.where = nullptr;
    const std::vector<int> results = definition.results();
    for (size_t r = 0; r + 1 < results.size(); ++r)
        part.definition.tensors[static_cast<size_t>(results[r])].role = Role::kIn;
    const std::vector<int> asked = definition.where ? iterators_in(definition.where) : std::vector<int>{};
    for (size_t x = 0; x < definition.iterators.size(); ++x) {
        if (!definition.iterators[x].is_reduction) continue;
        part.extents.iterators[x] = 1;
        if (std::ranges::binary_search(asked, static_cast<int>(x))) part.definition.where = nullptr;
    }
    return part;
}

}  // namespace tessera
