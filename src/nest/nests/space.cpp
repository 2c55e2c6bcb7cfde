#include "nest/nests/space.h"

#include <algorithm>
#include <optional>

#include "ir/checked_arithmetic.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

constexpr size_t kMostSpaceLoops = 6;
constexpr int64_t kMostSizes = int64_t{1} << 16;

class SpaceBuilder {
public:
    explicit SpaceBuilder(const KernelFile& file) : file_(file) {}

    Space run() {
        check_lines();
        space_.kernel = make_kernel(file_);
        if (space_.kernel.operators.size() < 2)
            fail("",
                 "holds one operator, expected a chain of a product, perhaps element-wise operators, and a "
                 "last reduction");
        set_root();
        set_batch();
        names_.resize(space_.kernel.operators.size());
        name_iterators();
        for (size_t op = 0; op < names_.size(); ++op) add_operator(op);
        check_sizes();
        return std::move(space_);
    }

private:
    [[noreturn]] void fail(const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(file_.where, entity, problem, advice);
    }

    void check_lines() {
        if (file_.nest) fail("nest", "has no place in a space", "`tessera nest` reads a file with a nest");
        if (file_.visible) fail("visible", "has no place in a space");
        if (!file_.multiple || !file_.capacity || !file_.machine)
            fail("", "is no space: it lacks a line `multiple`, `capacity` or `machine`");
        if (*file_.multiple < 1) fail("multiple", "is 0, expected at least 1");
        space_.multiple = *file_.multiple;
        space_.capacity = *file_.capacity;
        space_.machine = *file_.machine;
    }

    const Operator& op_at(size_t op) const { return space_.kernel.operators[op]; }
    const Operator& root() const { return space_.kernel.operators.back(); }

    static std::vector<size_t> reductions(const Operator& op) {
        std::vector<size_t> found;
        for (size_t x = 0; x < op.iterators(); ++x)
            if (op.is_reduction(x)) found.push_back(x);
        return found;
    }

    void set_root() {
        const std::vector<size_t> of_root = reductions(root());
        const std::vector<size_t> of_first = reductions(op_at(0));
        if (of_root.size() != 1 || of_first.size() != 1)
            fail(of_root.size() == 1 ? op_at(0).name() : root().name(),
                 "has not one reduction iterator, as the first and the last operator of a chain have");
        for (size_t op = 1; op + 1 < space_.kernel.operators.size(); ++op)
            if (!reductions(op_at(op)).empty())
                fail(op_at(op).name(), "reduces, but stands between the first and the last operator");
        const Definition& definition = root().bound.definition;
        for (const Iterator& iterator : definition.iterators) space_.names.push_back(iterator.name);
        space_.extents = root().extents();
        space_.reduction = of_root[0];
        space_.k = space_.names.size();
        space_.names.push_back(op_at(0).bound.definition.iterators[of_first[0]].name);
        space_.extents.push_back(op_at(0).extents()[of_first[0]]);
        if (root().monoid() != Monoid::kSoftmaxSum) return;
        for (size_t x = 0; x < root().iterators(); ++x)
            if (space_.is_parallel(x) && (root().results[0].iterators >> x & 1) == 0)
                space_.unused.push_back(x);
    }

    void set_batch() {
        for (const std::string& name : file_.batch.value_or(std::vector<std::string>{})) {
            const int iterator = root().bound.definition.iterator(name);
            const auto x = static_cast<size_t>(iterator);
            if (iterator < 0 || !space_.is_parallel(x) || is_batch(x))
                fail(name, fmt::format("is in the batch, expected different parallel iterators of {}",
                                       root().name()));
            space_.batch.push_back(x);
        }
        for (size_t x = 0; x < root().iterators(); ++x)
            if (!is_batch(x)) space_.loops.push_back(x);
        if (space_.loops.size() > kMostSpaceLoops)
            fail(root().name(), fmt::format("has {} iterators beside the batch, expected at most {}",
                                            space_.loops.size(), kMostSpaceLoops));
    }

    bool is_batch(size_t x) const { return std::ranges::find(space_.batch, x) != space_.batch.end(); }

    /// From the root upwards: an iterator of a producer is that which stands on its axis in the reader.
    void name_iterators() {
        for (size_t x = 0; x < root().iterators(); ++x) names_.back().push_back(x);
        for (size_t op = names_.size() - 1; op-- > 0;) {
            const Operator& maker = op_at(op);
            if (maker.results.size() != 1) fail(maker.name(), "has several results, which only the last may");
            const Result& result = maker.results[0];
            const Tensor& tensor = space_.kernel.tensors[static_cast<size_t>(result.tensor)];
            if (tensor.readers != std::vector<int>{static_cast<int>(op) + 1})
                fail(tensor.name, "is not read by the next operator alone, as in a chain");
            std::vector<std::optional<size_t>> own(maker.iterators());
            const std::vector<size_t> axes = axes_of(op + 1, result.tensor, false);
            for (size_t a = 0; a < axes.size(); ++a) {
                if (std::ranges::count(axes, axes[a]) != 1)
                    fail(tensor.name, "is read by one iterator along two axes");
                if (result.axes[a].constant != 0 ||
                    maker.extents()[result.axes[a].iterator] != space_.extents[axes[a]])
                    fail(tensor.name, fmt::format("is not read as it is made along axis {}", a));
                own[result.axes[a].iterator] = axes[a];
            }
            for (size_t x = 0; x < maker.iterators(); ++x) {
                if (maker.is_reduction(x)) own[x] = space_.k;
                names_[op].push_back(*own[x]);  // a result uses all parallel iterators
            }
        }
    }

    /// Iterators of the space on the axes of the one access of a tensor.
    std::vector<size_t> axes_of(size_t op, int tensor, bool may_divide) const {
        const facts::BoundDefinition& bound = op_at(op).bound;
        const std::string& name = space_.kernel.tensors[static_cast<size_t>(tensor)].name;
        const int position = bound.definition.tensor(name);
        const std::vector<facts::Access> accesses = facts::accesses_of(bound.definition, position);
        std::vector<size_t> axes;
        for (size_t a = 0; a < accesses[0].coordinates.size(); ++a) {
            const ExprPtr& coordinate = accesses[0].coordinates[a];
            for (const facts::Access& access : accesses)
                if (!same(access.coordinates[a], coordinate))
                    fail(name, fmt::format("is read by {} in two ways", bound.definition.name));
            const std::optional<size_t> iterator = plain_iterator(op, coordinate, may_divide);
            if (!iterator)
                fail(name, fmt::format("has the axis `{}`, expected an iterator alone{}",
                                       print(bound.definition, coordinate),
                                       may_divide ? ", or one of the batch divided by a constant" : ""));
            axes.push_back(names_[op][*iterator]);
            const auto x = static_cast<size_t>(*iterator);
            // An iterator divided by a constant reaches less far.
            const bool is_alone = std::holds_alternative<IteratorRef>(coordinate->node);
            if (is_alone && bound.shape(position)[a] < bound.extents.iterators[x])
                fail(name, fmt::format("ends before its iterator does along axis {}", a));
        }
        return axes;
    }

    std::optional<size_t> plain_iterator(size_t op, const ExprPtr& coordinate, bool may_divide) const {
        if (const auto* plain = std::get_if<IteratorRef>(&coordinate->node))
            return static_cast<size_t>(plain->index);
        const auto* apply = std::get_if<Apply>(&coordinate->node);
        if (!may_divide || !apply || apply->function != Function::kFloorDiv) return std::nullopt;
        const auto* divided = std::get_if<IteratorRef>(&apply->arguments[0]->node);
        if (!divided || !std::holds_alternative<Number>(apply->arguments[1]->node)) return std::nullopt;
        const auto x = static_cast<size_t>(divided->index);
        return is_batch(names_[op][x]) ? std::optional(x) : std::nullopt;
    }

    void add_operator(size_t op) {
        const Operator& from = op_at(op);
        SpaceOperator to{.tensors = {},
                         .iterators = names_[op],
                         .has_own_loop = op == 0,
                         .is_root = op + 1 == names_.size()};
        for (const Operand& operand : from.operands) {
            const std::vector<size_t> axes = axes_of(op, operand.tensor, true);
            if (space_.kernel.tensors[static_cast<size_t>(operand.tensor)].maker < 0)
                to.tensors.push_back(tensor_of(operand.tensor, SpaceTensor::Kind::kRead, axes));
        }
        for (const Result& result : from.results)
            to.tensors.push_back(
                tensor_of(result.tensor, to.is_root ? SpaceTensor::Kind::kWritten : SpaceTensor::Kind::kKept,
                          axes_of(op, result.tensor, false)));
        space_.operators.push_back(std::move(to));
    }

    SpaceTensor tensor_of(int tensor, SpaceTensor::Kind kind, std::vector<size_t> axes) const {
        const Tensor& from = space_.kernel.tensors[static_cast<size_t>(tensor)];
        const int width = bits(from.type);
        if (width % 8 != 0)
            fail(from.name,
                 fmt::format("holds {}, expected elements of whole bytes in a space", name(from.type)));
        if (axes.size() > kMostAxes)
            fail(from.name, fmt::format("has {} axes, expected at most {}", axes.size(), kMostAxes));
        SpaceTensor to{.kind = kind, .axes = std::move(axes), .elements = 1, .element_bytes = width / 8};
        for (const size_t x : to.axes) to.elements = checked_mul(to.elements, space_.extents[x], file_.where);
        return to;
    }

    void check_sizes() const {
        std::vector<size_t> tiled = space_.loops;
        tiled.push_back(space_.k);
        for (const size_t x : tiled)
            if (space_.extents[x] / space_.multiple > kMostSizes)
                fail(space_.names[x], fmt::format("has more than {} tile sizes", kMostSizes),
                     "make `multiple` larger");
    }

    const KernelFile& file_;
    Space space_;
    std::vector<std::vector<size_t>> names_;  ///< of each operator: its iterators as those of the space
};

}  // namespace

std::vector<int64_t> Space::sizes(size_t iterator) const {
    std::vector<int64_t> found;
    const int64_t extent = extents[iterator];
    for (int64_t i = 1; i <= extent / multiple; ++i) found.push_back(i * multiple);
    if (extent % multiple != 0) found.push_back(extent);
    return found;
}

std::vector<Structure> structures(const Space& space) {
    std::vector<Structure> all;
    std::vector<size_t> order = space.loops;
    do
        for (size_t depth = 0; depth <= order.size(); ++depth) all.push_back({order, depth});
    while (std::ranges::next_permutation(order).found);
    return all;
}

std::vector<size_t> units(const Space& space, const Structure& structure) {
    std::vector<size_t> found = space.batch;
    for (size_t i = 0; i < structure.depth && space.is_parallel(structure.order[i]); ++i)
        found.push_back(structure.order[i]);
    return found;
}

nest::WrittenNest written_nest(const Space& space, const Structure& structure,
                               const std::vector<int64_t>& tiles) {
    using nest::WrittenNest;
    const std::vector<size_t> unit = units(space, structure);
    const auto loop = [&](size_t x) {
        const bool is_unit = std::ranges::find(unit, x) != unit.end();
        return WrittenNest::Loop{space.names[x], tiles[x], is_unit ? nest::Bind::kUnit : nest::Bind::kSerial};
    };
    const auto run = [&](const Operator& op) { return nest::WrittenOperator{op.name()}; };
    const auto inside = structure.order.begin() + static_cast<ptrdiff_t>(structure.depth);

    WrittenNest whole;
    for (const size_t x : space.batch) whole.loops.push_back(loop(x));
    for (auto x = structure.order.begin(); x != inside; ++x) whole.loops.push_back(loop(*x));
    whole.items.emplace_back(
        WrittenNest{.loops = {loop(space.k)}, .items = {run(space.kernel.operators.front())}});
    for (size_t op = 1; op + 1 < space.kernel.operators.size(); ++op)
        whole.items.emplace_back(run(space.kernel.operators[op]));
    WrittenNest root{.loops = {}, .items = {run(space.kernel.operators.back())}};
    for (auto x = inside; x != structure.order.end(); ++x) root.loops.push_back(loop(*x));
    if (structure.is_deep())
        whole.items.push_back(std::move(root.items.front()));
    else
        whole.items.emplace_back(std::move(root));
    return whole;
}

Space make_space(const KernelFile& file) {
    return SpaceBuilder(file).run();
}

}  // namespace tessera::nests
