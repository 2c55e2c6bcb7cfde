#include "nest/nests/kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/checked_arithmetic.h"
#include "ir/definition_parser.h"
#include "ir/facts/image.h"
#include "ir/interpreter.h"
#include "ir/quasi_affine.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

/// Elements that are filled to check indices and predicates.
constexpr int64_t kMostContents = int64_t{1} << 22;

bool is_result(const TensorDecl& tensor) {
    return tensor.role == Role::kOut;
}

class KernelBuilder {
public:
    explicit KernelBuilder(const KernelFile& file) : file_(file) { kernel_.where = file.where; }

    Kernel run() {
        for (const DefinitionFile& file : file_.operators) add(file);
        return std::move(kernel_);
    }

private:
    [[noreturn]] void fail(const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const {
        throw Error(place(file_.where, line_), entity, problem, advice);
    }

    /// An item of a nest could not tell it from an operator.
    bool means_a_move(std::string_view name) const {
        return name == "load" || (file_.levels && (name == "store" || name == "keep"));
    }

    void add(const DefinitionFile& file) {
        const Definition& definition = file.definition;
        line_ = file.lines.op;
        if (means_a_move(definition.name) || kernel_.find_operator(definition.name) >= 0)
            fail(definition.name, "is taken; operators of a kernel need names of their own");
        check_sizes(file);
        Operator op{.bound = facts::bind_test(file, file_.where),
                    .operands = {},
                    .results = {},
                    .work = facts::work_rates(definition)};
        check_bound(file, op.bound.extents, file_.where);
        const int number = static_cast<int>(kernel_.operators.size());
        for (size_t t = 0; t < definition.tensors.size(); ++t) {
            line_ = t < file.lines.tensors.size() ? file.lines.tensors[t] : 0;
            const int tensor = is_result(definition.tensors[t]) ? make(op, t, number) : read(op, t, number);
            if (is_result(definition.tensors[t]))
                op.results.push_back(result_of(op.bound, t, tensor));
            else
                op.operands.push_back({tensor, ReadBox(op.bound, static_cast<int>(t),
                                                       kernel_.tensors[static_cast<size_t>(tensor)].made)});
        }
        for (const Result& result : op.results) {
            Tensor& tensor = kernel_.tensors[static_cast<size_t>(result.tensor)];
            for (size_t a = 0; a < tensor.shape.size(); ++a) {
                const ResultAxis& axis = result.axes[a];
                tensor.made[a] = {axis.constant, axis.constant + op.extents()[axis.iterator]};
                if (tensor.made[a].last > tensor.shape[a])
                    fail(tensor.name, fmt::format("is written beyond its shape along axis {}", a));
            }
        }
        check_indirect(op.bound);
        kernel_.operators.push_back(std::move(op));
    }

    /// Contents of index operands, and of what a predicate reads, are filled in memory.
    void check_sizes(const DefinitionFile& file) const {
        const BoundExtents extents = bound_extents(file, file_.where);
        const std::vector<Read> predicate =
            file.definition.where ? reads_in({file.definition.where}) : std::vector<Read>{};
        const auto is_index = [&](int t) {
            return file.definition.tensors[static_cast<size_t>(t)].role == Role::kIndex;
        };
        // With one operand that a predicate reads, all are filled.
        const bool all =
            std::ranges::any_of(predicate, [&](const Read& read) { return !is_index(read.tensor); });
        for (size_t t = 0; t < extents.shapes.size(); ++t) {
            int64_t elements = 1;
            for (const int64_t extent : extents.shapes[t])
                elements = checked_mul(elements, extent, file_.where);
            if ((all || is_index(static_cast<int>(t))) && elements > kMostContents)
                fail(file.definition.tensors[t].name,
                     fmt::format("has {} elements, of which maps or `where` read the values; expected at "
                                 "most {}",
                                 elements, kMostContents));
        }
    }

    int declare(const Operator& op, size_t t) {
        const TensorDecl& decl = op.bound.definition.tensors[t];
        const std::vector<int64_t>& shape = op.bound.extents.shapes[t];
        const int known = kernel_.find_tensor(decl.name);
        if (known < 0) {
            Tensor tensor{.name = decl.name,
                          .type = decl.type,
                          .shape = shape,
                          .maker = -1,
                          .readers = {},
                          .made = facts::ranges_of(shape)};
            kernel_.tensors.push_back(std::move(tensor));
            first_.push_back({static_cast<int>(kernel_.operators.size()), static_cast<int>(t)});
            return static_cast<int>(kernel_.tensors.size()) - 1;
        }
        const Tensor& tensor = kernel_.tensors[static_cast<size_t>(known)];
        if (tensor.type != decl.type || tensor.shape != shape)
            fail(decl.name,
                 fmt::format("is {}[{}], but {}[{}] in an operator above it", name(decl.type),
                             fmt::join(shape, ", "), name(tensor.type), fmt::join(tensor.shape, ", ")),
                 "a name means the same tensor everywhere");
        return known;
    }

    int make(const Operator& op, size_t t, int number) {
        const std::string& name = op.bound.definition.tensors[t].name;
        if (kernel_.find_tensor(name) >= 0) fail(name, "is used before it is made, or made twice");
        const int tensor = declare(op, t);
        kernel_.tensors[static_cast<size_t>(tensor)].maker = number;
        return tensor;
    }

    int read(const Operator& op, size_t t, int number) {
        const TensorDecl& decl = op.bound.definition.tensors[t];
        const bool is_index = decl.role == Role::kIndex;
        const size_t known = kernel_.tensors.size();
        const int tensor = declare(op, t);
        Tensor& read = kernel_.tensors[static_cast<size_t>(tensor)];
        read.readers.push_back(number);
        if (static_cast<size_t>(tensor) == known) return tensor;
        if (read.maker >= 0) {
            if (is_index) fail(decl.name, "is made by an operator and cannot be an index operand");
            return tensor;
        }
        const auto [first, position] = first_[static_cast<size_t>(tensor)];
        const facts::BoundDefinition& other = kernel_.operators[static_cast<size_t>(first)].bound;
        if (is_index != (other.tensor(position).role == Role::kIndex))
            fail(decl.name, "is an index operand in one operator and none in another");
        if (is_index && op.bound.contents[t] != other.contents[static_cast<size_t>(position)])
            fail(decl.name, "has other contents than in an operator above", "give both the same `fill`");
        return tensor;
    }

    Result result_of(const facts::BoundDefinition& bound, size_t t, int tensor) const {
        Result result{.tensor = tensor, .axes = {}};
        for (const ExprPtr& component : bound.definition.tensors[t].map) {
            const std::optional<ResultAxis> axis = axis_of(bound, component);
            if (!axis || (result.iterators >> axis->iterator & 1) != 0)
                fail(
                    bound.definition.tensors[t].name,
                    fmt::format("has the axis `{}`, expected another iterator for each axis, alone or plus a "
                                "constant",
                                print(bound.definition, component)));
            result.iterators |= uint64_t{1} << axis->iterator;
            result.axes.push_back(*axis);
        }
        return result;
    }

    static std::optional<ResultAxis> axis_of(const facts::BoundDefinition& bound, const ExprPtr& component) {
        const std::vector<int> iterators = iterators_in(component);
        if (is_indirect(component) || iterators.size() != 1) return std::nullopt;
        const QuasiAffine form =
            quasi_affine(component, bound.extents.dims, bound.extents.iterators, bound.where);
        const auto x = static_cast<size_t>(iterators[0]);
        const bool varies = bound.extents.iterators[x] > 1;
        const bool is_iterator = form.terms.size() == 1 && form.terms[0].coefficient == 1 &&
                                 form.terms[0].atom.kind == QuasiAtom::Kind::kIterator;
        if ((varies ? !is_iterator : !form.terms.empty()) || form.constant < 0) return std::nullopt;
        return ResultAxis{x, form.constant};
    }

    void check_indirect(const facts::BoundDefinition& bound) const {
        const std::vector<facts::Range> anywhere = {{-(int64_t{1} << 60), int64_t{1} << 60}};
        for (size_t t = 0; t < bound.definition.tensors.size(); ++t)
            for (const facts::Access& access : facts::accesses_of(bound.definition, static_cast<int>(t)))
                for (size_t a = 0; a < access.coordinates.size(); ++a) {
                    if (!is_indirect(access.coordinates[a])) continue;
                    const auto taken = facts::image_bounds(bound, {access.coordinates[a]},
                                                           facts::whole_box(bound), anywhere);
                    if (taken && taken->front().first >= 0 &&
                        taken->front().last <= bound.extents.shapes[t][a])
                        continue;
                    fail(bound.definition.tensors[t].name,
                         fmt::format("is read out of range along the indirect axis {}", a));
                }
    }

    struct FirstUse {
        int op;
        int tensor;  ///< of its definition
    };

    const KernelFile& file_;
    Kernel kernel_;
    std::vector<FirstUse> first_;  ///< as Kernel::tensors
    int line_ = 0;
};

template <class Named>
int position_of(const std::vector<Named>& all, std::string_view name, auto name_of) {
    const auto found = std::ranges::find_if(all, [&](const Named& one) { return name_of(one) == name; });
    return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

}  // namespace

std::optional<size_t> Operator::operand(int tensor) const {
    for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i].tensor == tensor) return i;
    return std::nullopt;
}

int Kernel::find_operator(std::string_view name) const {
    return position_of(operators, name, [](const Operator& op) -> std::string_view { return op.name(); });
}

int Kernel::find_tensor(std::string_view name) const {
    return position_of(tensors, name, [](const Tensor& tensor) -> std::string_view { return tensor.name; });
}

int64_t Kernel::bytes(int tensor, const Box& box) const {
    int64_t in_bits = bits(tensors[static_cast<size_t>(tensor)].type);
    for (const facts::Range& range : box) in_bits = checked_mul(in_bits, range.size(), where);
    return in_bits / 8 + (in_bits % 8 != 0);
}

Kernel make_kernel(const KernelFile& file) {
    return KernelBuilder(file).run();
}

}  // namespace tessera::nests
