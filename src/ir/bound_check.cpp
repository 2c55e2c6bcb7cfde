#include <algorithm>

#include <fmt/format.h>

#include "ir/body_value.h"
#include "ir/box_walk.h"
#include "ir/definition_parser.h"
#include "ir/injectivity.h"
#include "ir/quasi_affine.h"
#include "support/error.h"

/// Checks that need extents and the contents of index operands. A direct component is decided by its exact
/// range, however large the box; an indirect one, or one that only the predicate keeps in range, by the
/// iterators that it depends on.
namespace tessera {
namespace {

/// A few seconds of work.
constexpr int64_t kMostIterations = int64_t{1} << 24;

size_t unsigned_index(int position) {
    return static_cast<size_t>(position);
}

class BoundChecker {
public:
    BoundChecker(const DefinitionFile& file, const BoundExtents& extents, const std::string& source)
        : file_(file),
          d_(file.definition),
          extents_(extents),
          source_(source),
          contents_(fill()),
          point_(d_, extents, contents_, source) {}

    void run() {
        check_tiles();
        check_index_reads();
        for (int result : d_.results()) check_writes(result);
        if (d_.monoid == Monoid::kNone) check_stores();
    }

private:
    [[noreturn]] void fail(int line, const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(place(source_, line), entity, problem, advice);
    }

    int line_of(int tensor) const { return line_at(file_.lines.tensors, unsigned_index(tensor)); }

    /// Contents of index operands, and of operands that the predicate reads.
    std::vector<TensorData> fill() const {
        std::vector<TensorData> contents(d_.tensors.size());
        std::vector<bool> is_needed(d_.tensors.size());
        for (size_t i = 0; i < is_needed.size(); ++i) is_needed[i] = d_.tensors[i].role == Role::kIndex;
        if (d_.where) {
            for (const Read& read : reads_in({d_.where})) is_needed[unsigned_index(read.tensor)] = true;
        }
        for (size_t i = 0; i < contents.size(); ++i) {
            const auto tensor = static_cast<int>(i);
            if (is_needed[i]) contents[i] = test_contents_of(file_, extents_, tensor, fill_place(tensor));
        }
        return contents;
    }

    std::string fill_place(int tensor) const {
        const auto line = file_.lines.fills.find(d_.tensors[unsigned_index(tensor)].name);
        return line == file_.lines.fills.end() ? source_ : place(source_, line->second);
    }

    void check_tiles() const {
        for (const auto& [iterator, tile] : file_.test.tile) {
            const int64_t extent = extents_.iterators[unsigned_index(d_.iterator(iterator))];
            if (tile.size > extent || tile.origin > extent - tile.size) {
                const auto line = file_.lines.tiles.find(iterator);
                fail(line == file_.lines.tiles.end() ? 0 : line->second, iterator,
                     fmt::format("has a tile of {} at {}, which is not full: the extent is {}", tile.size,
                                 tile.origin, extent));
            }
        }
    }

    void check_index_reads() {
        for (const Read& read : reads_in(read_roots(d_))) {
            if (d_.tensors[unsigned_index(read.tensor)].role != Role::kIndex) continue;
            for (size_t axis = 0; axis < read.coordinates.size(); ++axis) {
                const std::optional<int64_t> outside =
                    coordinate_outside(read.tensor, axis, read.coordinates[axis], false);
                if (!outside) continue;
                fail(line_of(read.tensor), d_.tensors[unsigned_index(read.tensor)].name,
                     fmt::format("is read at {} along axis {}, outside of its shape [{}]", *outside, axis,
                                 fmt::join(extents_.shapes[unsigned_index(read.tensor)], ", ")),
                     "an index operand must be read within its shape");
            }
        }
    }

    void check_writes(int result) {
        const TensorDecl& decl = d_.tensors[unsigned_index(result)];
        // A post-expression is applied to every element that the map reaches, executed or not.
        const bool is_ragged = d_.where && !d_.post;
        for (size_t axis = 0; axis < decl.map.size(); ++axis) {
            const std::optional<int64_t> outside =
                coordinate_outside(result, axis, decl.map[axis], is_ragged);
            if (!outside) continue;
            fail(line_of(result), decl.name,
                 fmt::format("is written at {} along axis {}, outside of its shape [{}]", *outside, axis,
                             fmt::join(extents_.shapes[unsigned_index(result)], ", ")));
        }
    }

    /// A coordinate outside of the tensor, if there is one: over the whole box, or over executed iterations
    /// only.
    std::optional<int64_t> coordinate_outside(int tensor, size_t axis, const ExprPtr& component,
                                              bool only_executed) {
        const int64_t extent = extents_.shapes[unsigned_index(tensor)][axis];
        const std::string where = place(source_, line_of(tensor));
        const QuasiAffine form = quasi_affine(component, extents_.dims, extents_.iterators, where);
        if (!is_indirect(form)) {
            const IntegerInterval outer = enclosing_range(form, extents_.iterators, where);
            if (outer.low >= 0 && outer.high < extent) return std::nullopt;
            const IntegerInterval range = exact_range(form, extents_.iterators, where);
            if (range.low >= 0 && range.high < extent) return std::nullopt;
            if (!only_executed) return range.low < 0 ? range.low : range.high;
        }
        std::vector<ExprPtr> roots{component};
        if (only_executed) roots.push_back(d_.where);
        const BoxWalk walk(extents_.iterators, iterators_in(roots));
        if (walk.count() > kMostIterations) {
            fail(line_of(tensor), d_.tensors[unsigned_index(tensor)].name,
                 fmt::format("`{}` is indirect or kept in range by `where` only, over too many iterations to "
                             "check them",
                             print(d_, component)));
        }
        walk.start(point_.iterators);
        do {
            if (only_executed && point_.value(*d_.where) == 0) continue;
            const int64_t coordinate = point_.coordinate(*component);
            if (coordinate < 0 || coordinate >= extent) return coordinate;
        } while (walk.next(point_.iterators));
        return std::nullopt;
    }

    void check_stores() {
        const int result = d_.results().front();
        const std::string& name = d_.tensors[unsigned_index(result)].name;
        double iterations = 1;
        double elements = 1;
        for (int64_t extent : extents_.iterators) iterations *= static_cast<double>(extent);
        for (int64_t extent : extents_.shapes[unsigned_index(result)])
            elements *= static_cast<double>(extent);
        const char* advice = "a body without a monoid stores every element once";
        if (!d_.where && iterations > elements) {
            fail(line_of(result), name,
                 fmt::format("has {} elements for {} iterations, so that two write the same", elements,
                             iterations),
                 advice);
        }
        if (find_store_collision(d_, extents_, point_, source_) == StoreCollision::kFound) {
            fail(line_of(result), name,
                 fmt::format("has an element that two iterations write, again {}", point_.iteration()),
                 advice);
        }
    }

    const DefinitionFile& file_;
    const Definition& d_;
    const BoundExtents& extents_;
    const std::string& source_;
    std::vector<TensorData> contents_;
    BodyValue point_;
};

}  // namespace

void check_bound(const DefinitionFile& file, const BoundExtents& extents, const std::string& where) {
    BoundChecker(file, extents, where).run();
}

}  // namespace tessera
