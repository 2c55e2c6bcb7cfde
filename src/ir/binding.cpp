#include "ir/checked_arithmetic.h"
#include "ir/definition_parser.h"
#include "ir/integer_value.h"
#include "ir/quasi_affine.h"

namespace tessera {
namespace {

void check_dims(const Definition& definition, const std::vector<int64_t>& dims, const std::string& where) {
    TESSERA_CHECK(dims.size() == definition.dims.size(), "{} values for {} dims", dims.size(),
                  definition.dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
        const DimSymbol& dim = definition.dims[i];
        if (dims[i] < dim.low || dims[i] > dim.high) {
            throw Error(where, dim.name, fmt::format("is {}, expected {}..{}", dims[i], dim.low, dim.high));
        }
        if (dims[i] % dim.multiple_of != 0) {
            throw Error(where, dim.name,
                        fmt::format("is {}, expected a multiple of {}", dims[i], dim.multiple_of));
        }
    }
}

class Binder {
public:
    Binder(const Definition& definition, const std::string& source, const DefinitionLines& lines)
        : definition_(definition), source_(source), lines_(lines) {}

    BoundExtents run(const std::vector<int64_t>& dims) {
        bound_.dims = dims;
        const std::string at_op = place(source_, lines_.op);
        int64_t points = 1;
        for (const Iterator& iterator : definition_.iterators) {
            bound_.iterators.push_back(positive(iterator.extent, iterator.name, "the extent", at_op));
            points = checked_mul(points, bound_.iterators.back(), at_op);
        }
        for (size_t i = 0; i < definition_.tensors.size(); ++i) {
            bound_.shapes.push_back(
                shape_of(definition_.tensors[i], place(source_, line_at(lines_.tensors, i))));
        }
        return std::move(bound_);
    }

private:
    int64_t positive(const ExprPtr& expr, const std::string& entity, std::string_view what,
                     const std::string& where) const {
        const IntegerScope scope{.dims = bound_.dims, .iterators = {}, .fill_position = 0, .read = nullptr};
        const int64_t value = integer_value(*expr, scope, where);
        if (value < 1) {
            throw Error(
                where, entity,
                fmt::format("{} `{}` is {}, expected at least 1", what, print(definition_, expr), value));
        }
        return value;
    }

    std::vector<int64_t> shape_of(const TensorDecl& tensor, const std::string& where) const {
        std::vector<int64_t> shape;
        int64_t elements = 1;
        for (size_t axis = 0; axis < tensor.map.size(); ++axis) {
            shape.push_back(tensor.shape ? positive((*tensor.shape)[axis], tensor.name, "the shape", where)
                                         : largest_coordinate(tensor, tensor.map[axis], where) + 1);
            elements = checked_mul(elements, shape.back(), where);
        }
        return shape;
    }

    int64_t largest_coordinate(const TensorDecl& tensor, const ExprPtr& component,
                               const std::string& where) const {
        TESSERA_CHECK(!is_indirect(component), "{} has an indirect map and no shape", tensor.name);
        const QuasiAffine form = quasi_affine(component, bound_.dims, bound_.iterators, where);
        const IntegerInterval range = exact_range(form, bound_.iterators, where);
        if (range.low < 0) {
            throw Error(where, tensor.name,
                        fmt::format("`{}` reaches down to {}", print(definition_, component), range.low),
                        "a map that reaches below zero needs a shape: `of [...]`");
        }
        return range.high;
    }

    const Definition& definition_;
    const std::string& source_;
    const DefinitionLines& lines_;
    BoundExtents bound_;
};

}  // namespace

BoundExtents bound_extents(const Definition& definition, const std::vector<int64_t>& dims,
                           const std::string& where) {
    check_dims(definition, dims, where);
    const DefinitionLines no_lines;
    return Binder(definition, where, no_lines).run(dims);
}

BoundExtents bound_extents(const DefinitionFile& file, const std::string& where) {
    const std::vector<int64_t> dims = bound_dims(file);
    check_dims(file.definition, dims, where);
    return Binder(file.definition, where, file.lines).run(dims);
}

std::vector<int64_t> bound_dims(const DefinitionFile& file) {
    std::vector<int64_t> values;
    for (const DimSymbol& dim : file.definition.dims) {
        const auto bound = file.test.bind.find(dim.name);
        TESSERA_CHECK(bound != file.test.bind.end(), "{} has no value", dim.name);
        values.push_back(bound->second);
    }
    return values;
}

}  // namespace tessera
