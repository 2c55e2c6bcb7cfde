#include "lowering/tiled_kernel.h"

#include <algorithm>

namespace tessera::lowering {
namespace {

using PartRanges = std::vector<PartRange>;

bool is_refined(const PartRange& range) {
    return range.loop >= 0;
}

class Tiling {
public:
    Tiling(const BlockLinks& links, const std::vector<bool>& is_tile)
        : links_(links), is_tile_(is_tile), parts_(links.operators.size()) {}

    TiledKernel run(const NumberedNest& nest) {
        all_ = nest.operators();
        for (const int o : all_)
            if (all_.size() > 1 && is_lone(*op(o).node->definition()))
                fail({NestRule::kKeepsOrder, op(o).node, op(o).results.front().value});
        walk(nest, whole(nest.root()), false);
        return std::move(out_);
    }

private:
    /// An operator's state on the level that is walked.
    struct Part {
        PartRanges ranges;
        std::vector<char> is_known;  ///< by iterator: a reader asks for this range
        int level = 0;               ///< the last one that it belongs to
    };
    Part& part(int o) { return parts_[static_cast<size_t>(o)]; }
    const BlockLinks::Operator& op(int o) const { return links_.operators[static_cast<size_t>(o)]; }
    std::string_view iterator(int o, int x) const {
        return op(o).node->definition()->iterators[static_cast<size_t>(x)].name;
    }
    bool has_failed() const { return out_.broken.has_value(); }
    void fail(const BrokenRule& broken) {
        if (!out_.broken) out_.broken = broken;
    }

    void make_whole(int o, PartRanges& ranges) const {
        ranges.clear();
        ranges.reserve(op(o).largest.size());
        for (size_t x = 0; x < op(o).largest.size(); ++x)
            ranges.push_back({-1, op(o).largest[x], op(o).extent[x]});
    }
    PartRanges whole(int o) const {
        PartRanges ranges;
        make_whole(o, ranges);
        return ranges;
    }

    void walk(const NumberedNest& nest, PartRanges ranges, bool is_partial) {
        const int root = nest.root();
        const size_t outer = open_.size();
        const int outer_stopped = stopped_;
        for (const NumberedNest::Loop& loop : nest.loops) {
            PartRange& range = ranges[static_cast<size_t>(loop.iterator)];
            const bool is_reduction = op(root).is_reduction(loop.iterator);
            if (is_reduction && op(root).node->definition()->is_recurrence())
                fail({NestRule::kKeepsOrder, op(root).node, op(root).results.front().value, loop.iterator});
            is_partial = is_partial || is_reduction;
            out_.is_kept.push_back(loop.tile < range.largest);
            if (!out_.is_kept.back()) continue;
            if (!is_reduction && is_partial) check_folds_once(root, loop.iterator);
            const bool is_stopped = ends_early(root, loop.iterator, ranges);
            stopped_ += is_stopped ? 1 : 0;
            open_.push_back(static_cast<int>(out_.loops.size()));
            out_.loops.push_back({root, loop.iterator, loop.tile, range.loop, loop.is_divided(), is_stopped});
            range = {open_.back(), loop.tile, is_stopped ? -1 : range.extent};
        }
        const std::vector<int> inside = nest.operators();
        if (is_partial) check_read_behind_fold(root, inside);
        require(inside, ranges);
        if (has_failed()) return;
        // The ranges of this level, since inner nests overwrite theirs.
        std::vector<PartRanges> here;
        for (const auto& item : nest.items) {
            const auto* inner = std::get_if<NumberedNest>(&item);
            here.push_back(part(inner ? inner->root() : std::get<int>(item)).ranges);
        }
        for (size_t i = 0; i < nest.items.size() && !has_failed(); ++i) {
            const auto* inner = std::get_if<NumberedNest>(&nest.items[i]);
            const int o = inner ? inner->root() : std::get<int>(nest.items[i]);
            if (o != root) check_part(o, here[i]);
            if (inner) {
                check_hidden(*inner);
                walk(*inner, std::move(here[i]), is_partial && o == root);
            } else {
                out_.operators.push_back({o, std::move(here[i]), open_});
            }
        }
        open_.resize(outer);
        stopped_ = outer_stopped;
    }

    bool ends_early(int o, int x, const PartRanges& ranges) const {
        const std::optional<BlockLinks::End>& end = op(o).ends[static_cast<size_t>(x)];
        return end && std::ranges::all_of(end->single,
                                          [&](int y) { return ranges[static_cast<size_t>(y)].largest == 1; });
    }

    /// Finds the part of each operator that the later ones need, from the last one on, which runs over
    /// `of_root`.
    void require(const std::vector<int>& inside, const PartRanges& of_root) {
        ++level_;
        for (const int o : inside) {
            make_whole(o, part(o).ranges);
            part(o).is_known.assign(part(o).ranges.size(), 0);
            part(o).level = level_;
        }
        part(inside.back()).ranges = of_root;
        for (auto reader = inside.rbegin(); reader != inside.rend(); ++reader) {
            part(*reader).level = 0;
            for (const BlockLinks::Access& access : op(*reader).accesses)
                if (part(access.producer).level == level_) need(access.producer, *reader, access);
        }
    }

    void need(int producer, int reader, const BlockLinks::Access& access) {
        Part& of_producer = part(producer);
        const BlockLinks::Result& result = op(producer).results[static_cast<size_t>(access.result)];
        const Node* const made_by = op(producer).node;
        if (result.is_in_view) return fail({NestRule::kHasOwnAxes, made_by, result.value});
        const PartRanges& of_reader = part(reader).ranges;
        for (size_t axis = 0; axis < access.axes.size(); ++axis) {
            const BlockLinks::Axis& read = access.axes[axis];
            for (const int x : read.mixed)
                if (is_refined(of_reader[static_cast<size_t>(x)]))
                    return fail(
                        {NestRule::kReadAtIterators, made_by, result.value, x, axis, op(reader).node});
            const int x = result.iterators[axis];
            if (x < 0) return fail({NestRule::kWrittenAtIterators, made_by, result.value});
            if (!result.is_whole[axis])
                return fail({NestRule::kWrittenWhole, made_by, result.value, -1, axis});
            const auto at = static_cast<size_t>(x);
            PartRange range{-1, op(producer).largest[at], op(producer).extent[at]};
            const PartRange whole_axis = range;
            if (read.iterator >= 0) range = of_reader[static_cast<size_t>(read.iterator)];
            if (!is_refined(range) && range.extent == whole_axis.extent) range = whole_axis;
            if (of_producer.is_known[at] != 0 && !(of_producer.ranges[at] == range)) range = whole_axis;
            of_producer.ranges[at] = range;
            of_producer.is_known[at] = 1;
        }
    }

    void check_read_behind_fold(int root, const std::vector<int>& inside) {
        for (const BlockLinks::Access& access : op(root).accesses)
            if (access.is_behind_fold && is_tile_[static_cast<size_t>(access.producer)] &&
                std::ranges::find(inside, access.producer) != inside.end()) {
                const BlockLinks::Operator& maker = op(access.producer);
                fail({NestRule::kReadBehindFold, maker.node,
                      maker.results[static_cast<size_t>(access.result)].value, -1, 0, op(root).node});
            }
    }

    void check_folds_once(int o, int x) {
        for (const BlockLinks::Result& result : op(o).results)
            if (const auto broken = broken_fold(*op(o).node, result.value, result.used, x)) fail(*broken);
    }

    /// A result at the place of its operator in the nest, for `broken_part`.
    struct PlacedResult {
        const Tiling& tiling;
        int op;
        const PartRanges& ranges;

        bool is_tile() const { return tiling.is_tile_[static_cast<size_t>(op)]; }
        bool is_stopped() const { return tiling.stopped_ > 0; }
        static bool is_replacing() { return false; }
        bool covers(int x) const {
            const auto at = static_cast<size_t>(x);
            return ranges[at].extent == tiling.op(op).extent[at];
        }
        size_t loops() const { return tiling.open_.size(); }
        std::string_view loop_name(size_t loop) const { return tiling.iterator_of(tiling.open_[loop]); }
        int moved(size_t loop) const {
            return static_cast<int>(std::ranges::count_if(
                ranges, [&](const PartRange& range) { return tiling.runs_with(range, tiling.open_[loop]); }));
        }
    };

    void check_part(int o, const PartRanges& ranges) {
        for (const BlockLinks::Result& result : op(o).results)
            if (const auto broken = broken_part(*op(o).node, result.tensor, result.value, result.used,
                                                PlacedResult{*this, o, ranges}))
                return fail(*broken);
    }

    std::string_view iterator_of(int loop) const {
        const TiledLoop& tiled = out_.loops[static_cast<size_t>(loop)];
        return iterator(tiled.op, tiled.iterator);
    }

    bool runs_with(const PartRange& range, int loop) const {
        for (int at = range.loop; at >= 0; at = out_.loops[static_cast<size_t>(at)].outer)
            if (at == loop) return true;
        return false;
    }

    void check_hidden(const NumberedNest& inner) {
        const std::vector<int> made = inner.operators();
        ++level_;
        for (const int o : made) part(o).level = level_;
        const auto is_inside = [&](int o) { return part(o).level == level_; };
        const auto for_each_read = [&](int reader, const auto& is_found) {
            for (const BlockLinks::Access& access : op(reader).accesses)
                if (is_found(access.producer)) return;
        };
        const auto hidden = hidden_read(all_, made.back(), is_inside, for_each_read);
        if (!hidden) return;
        const BlockLinks::Operator& maker = op(hidden->maker);
        fail(
            {NestRule::kSeenInside, maker.node, maker.results.front().value, -1, 0, op(hidden->reader).node});
    }

    const BlockLinks& links_;
    const std::vector<bool>& is_tile_;
    std::vector<Part> parts_;  ///< by operator
    int level_ = 0;            ///< number of the level that is walked, or of a check
    std::vector<int> all_;     ///< operators of the kernel
    std::vector<int> open_;    ///< loops around the current place
    int stopped_ = 0;          ///< the number of these that a predicate may end
    TiledKernel out_;
};

/// @param at the place in `is_kept` of the first loop; behind the last one at the end
NumberedNest kept(NumberedNest nest, const std::vector<bool>& is_kept, size_t& at) {
    std::erase_if(nest.loops, [&](const NumberedNest::Loop&) { return !is_kept[at++]; });
    for (NumberedNest::Item& item : nest.items)
        if (auto* inner = std::get_if<NumberedNest>(&item)) *inner = kept(std::move(*inner), is_kept, at);
    return nest;
}

}  // namespace

NumberedNest without_lone_loops(const NumberedNest& nest, const std::vector<bool>& is_kept) {
    size_t at = 0;
    return nest::normal_form(kept(nest, is_kept, at));
}

TiledKernel tiled_kernel(const BlockLinks& links, const NumberedNest& nest,
                         const std::vector<bool>& is_tile) {
    return Tiling(links, is_tile).run(nest);
}

std::optional<Refusal> why_illegal(const BlockLinks& links, const NumberedNest& nest,
                                   const std::vector<bool>& is_tile) {
    const TiledKernel kernel = tiled_kernel(links, nest, is_tile);
    return kernel.broken ? std::optional(refusal(*kernel.broken, *links.graph)) : std::nullopt;
}

}  // namespace tessera::lowering
