#include "ir/definition.h"

#include <algorithm>
#include <array>
#include <limits>

#include "support/error.h"

namespace tessera {
namespace {

constexpr std::array<std::string_view, 7> kMonoidNames = {"",    "sum",         "prod",    "max",
                                                          "min", "softmax_sum", "in_order"};

template <typename Named>
int position_of(const std::vector<Named>& list, std::string_view name) {
    const auto found = std::ranges::find(list, name, &Named::name);
    return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

bool same_map(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
    return std::ranges::equal(a, b, [](const ExprPtr& x, const ExprPtr& y) { return same(x, y); });
}

bool same_tensor(const TensorDecl& a, const TensorDecl& b) {
    return a.name == b.name && a.type == b.type && a.role == b.role && same_map(a.map, b.map) &&
           a.shape.has_value() == b.shape.has_value() && (!a.shape || same_map(*a.shape, *b.shape));
}

bool same_iterator(const Iterator& a, const Iterator& b) {
    return a.name == b.name && a.is_reduction == b.is_reduction && a.is_ordered == b.is_ordered &&
           same(a.extent, b.extent);
}

bool same_line(const RecurrenceLine& a, const RecurrenceLine& b) {
    return a.result == b.result && a.fold == b.fold && same(a.post, b.post);
}

}  // namespace

std::vector<int> Definition::results() const {
    std::vector<int> found;
    for (size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].role == Role::kOut || tensors[i].role == Role::kUpdate)
            found.push_back(static_cast<int>(i));
    }
    return found;
}

int Definition::tensor(std::string_view wanted) const {
    return position_of(tensors, wanted);
}

int Definition::iterator(std::string_view wanted) const {
    return position_of(iterators, wanted);
}

int Definition::dim(std::string_view wanted) const {
    return position_of(dims, wanted);
}

bool same(const Definition& a, const Definition& b) {
    return a.name == b.name && std::ranges::equal(a.iterators, b.iterators, same_iterator) &&
           a.dims == b.dims && std::ranges::equal(a.tensors, b.tensors, same_tensor) &&
           a.monoid == b.monoid && same_map(a.body, b.body) && same(a.post, b.post) &&
           std::ranges::equal(a.lines, b.lines, same_line) && same(a.where, b.where) &&
           a.accumulator == b.accumulator && a.weights == b.weights && a.may_regroup == b.may_regroup;
}

bool same(const TestSetup& a, const TestSetup& b) {
    const auto same_fill = [](const auto& x, const auto& y) {
        return x.first == y.first && same(x.second, y.second);
    };
    return a.bind == b.bind && std::ranges::equal(a.fill, b.fill, same_fill) && a.tile == b.tile &&
           a.lanes == b.lanes && a.unit == b.unit;
}

std::string_view name(Monoid monoid) {
    return kMonoidNames.at(static_cast<size_t>(monoid));
}

double identity(Monoid monoid) {
    switch (monoid) {
        case Monoid::kNone:
        case Monoid::kSum:
        case Monoid::kInOrder:
            return 0;
        case Monoid::kProd:
            return 1;
        case Monoid::kMin:
            return std::numeric_limits<double>::infinity();
        case Monoid::kMax:
        case Monoid::kSoftmaxSum:
            return -std::numeric_limits<double>::infinity();
    }
    return 0;
}

double identity(const Definition& definition, int result) {
    const bool is_sum = definition.monoid == Monoid::kSoftmaxSum && result != definition.results().front();
    return is_sum ? 0 : identity(definition.monoid);
}

bool is_indirect(const ExprPtr& component) {
    bool found = false;
    walk(component, [&](const Expr& expr) {
        found |= std::holds_alternative<Read>(expr.node);
        return !found;
    });
    return found;
}

std::vector<Read> reads_in(const std::vector<ExprPtr>& roots) {
    std::vector<Read> found;
    const auto is_known = [&](const Read& read) {
        return std::ranges::any_of(found, [&](const Read& other) {
            return other.tensor == read.tensor && same_map(other.coordinates, read.coordinates);
        });
    };
    for (const ExprPtr& root : roots) {
        walk(root, [&](const Expr& expr) {
            if (const auto* read = std::get_if<Read>(&expr.node); read && !is_known(*read))
                found.push_back(*read);
            return true;
        });
    }
    return found;
}

std::vector<ExprPtr> read_roots(const Definition& definition) {
    std::vector<ExprPtr> roots = definition.body;
    if (definition.post) roots.push_back(definition.post);
    for (const RecurrenceLine& line : definition.lines)
        if (line.post) roots.push_back(line.post);
    for (int result : definition.results()) {
        const std::vector<ExprPtr>& map = definition.tensors[static_cast<size_t>(result)].map;
        roots.insert(roots.end(), map.begin(), map.end());
    }
    if (definition.where) roots.push_back(definition.where);
    return roots;
}

std::vector<std::vector<ExprPtr>> accesses(const Definition& definition, int tensor) {
    const TensorDecl& decl = definition.tensors[static_cast<size_t>(tensor)];
    if (decl.role == Role::kOut || decl.role == Role::kUpdate) return {decl.map};
    std::vector<std::vector<ExprPtr>> found;
    for (const Read& read : reads_in(read_roots(definition))) {
        if (read.tensor == tensor) found.push_back(read.coordinates);
    }
    return found;
}

std::vector<int> iterators_in(const ExprPtr& expr) {
    return iterators_in(std::vector<ExprPtr>{expr});
}

std::vector<int> iterators_in(const std::vector<ExprPtr>& exprs) {
    std::vector<int> found;
    for (const ExprPtr& expr : exprs) {
        walk(expr, [&](const Expr& node) {
            if (const auto* iterator = std::get_if<IteratorRef>(&node.node)) found.push_back(iterator->index);
            return true;
        });
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace tessera
