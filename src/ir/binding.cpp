#include "ir/checked_arithmetic.h"
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
    Binder(const Definition& definition, const std::string& where) : definition_(definition), where_(where) {}

    BoundExtents run(const std::vector<int64_t>& dims) {
        bound_.dims = dims;
        for (const Iterator& iterator : definition_.iterators) {
            bound_.iterators.push_back(positive(iterator.extent, iterator.name, "the extent"));
        }
        int64_t points = 1;
        for (int64_t extent : bound_.iterators) points = checked_mul(points, extent, where_);
        for (const TensorDecl& tensor : definition_.tensors) bound_.shapes.push_back(shape_of(tensor));
        return std::move(bound_);
    }

private:
    int64_t positive(const ExprPtr& expr, const std::string& entity, std::string_view what) const {
        const IntegerScope scope{.dims = bound_.dims, .iterators = {}, .fill_position = 0, .read = nullptr};
        const int64_t value = integer_value(*expr, scope, where_);
        if (value < 1) {
            throw Error(
                where_, entity,
                fmt::format("{} `{}` is {}, expected at least 1", what, print(definition_, expr), value));
        }
        return value;
    }

    std::vector<int64_t> shape_of(const TensorDecl& tensor) const {
        std::vector<int64_t> shape;
        int64_t elements = 1;
        for (size_t axis = 0; axis < tensor.map.size(); ++axis) {
            shape.push_back(tensor.shape ? positive((*tensor.shape)[axis], tensor.name, "the shape")
                                         : largest_coordinate(tensor, tensor.map[axis]) + 1);
            elements = checked_mul(elements, shape.back(), where_);
        }
        return shape;
    }

    int64_t largest_coordinate(const TensorDecl& tensor, const ExprPtr& component) const {
        TESSERA_CHECK(!is_indirect(component), "{} has an indirect map and no shape", tensor.name);
        const QuasiAffine form = quasi_affine(component, bound_.dims, bound_.iterators, where_);
        const IntegerInterval range = exact_range(form, bound_.iterators, where_);
        if (range.low < 0) {
            throw Error(where_, tensor.name,
                        fmt::format("`{}` reaches down to {}", print(definition_, component), range.low),
                        "a map that reaches below zero needs a shape: `of [...]`");
        }
        return range.high;
    }

    const Definition& definition_;
    const std::string& where_;
    BoundExtents bound_;
};

}  // namespace

BoundExtents bind(const Definition& definition, const std::vector<int64_t>& dims, const std::string& where) {
    check_dims(definition, dims, where);
    return Binder(definition, where).run(dims);
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
