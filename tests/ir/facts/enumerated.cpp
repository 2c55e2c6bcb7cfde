#include "ir/facts/enumerated.h"

#include <algorithm>
#include <map>

namespace tessera::facts {
namespace {

using nlohmann::json;

const ExprPtr& uncast(const ExprPtr& expr) {
    const auto* cast = std::get_if<Cast>(&expr->node);
    return cast ? uncast(cast->argument) : expr;
}

int read_tensor(const ExprPtr& expr) {
    const auto* read = std::get_if<Read>(&uncast(expr)->node);
    return read ? read->tensor : -1;
}

std::vector<int> factors(const Definition& d) {
    std::vector<int> pair;
    if (d.monoid == Monoid::kSoftmaxSum) {
        for (const Read& read : reads_in({d.body[0]}))
            if (d.tensors[static_cast<size_t>(read.tensor)].role == Role::kIn &&
                std::count(pair.begin(), pair.end(), read.tensor) == 0)
                pair.push_back(read.tensor);
        pair.push_back(read_tensor(d.body[1]));
    } else if (d.monoid == Monoid::kSum) {
        const auto* product = std::get_if<Apply>(&uncast(d.body[0])->node);
        if (product && product->function == Function::kMul)
            for (const ExprPtr& factor : product->arguments) pair.push_back(read_tensor(factor));
    }
    if (pair.size() != 2 || pair[0] == pair[1] || pair[0] < 0 || pair[1] < 0) pair.clear();
    return pair;
}

// All ways to give `count` places distinct numbers below `n`.
void arrangements(size_t n, size_t count, std::vector<size_t>& chosen,
                  std::vector<std::vector<size_t>>& all) {
    if (chosen.size() == count) {
        all.push_back(chosen);
        return;
    }
    for (size_t i = 0; i < n; ++i) {
        if (std::count(chosen.begin(), chosen.end(), i) > 0) continue;
        chosen.push_back(i);
        arrangements(n, count, chosen, all);
        chosen.pop_back();
    }
}

}  // namespace

Enumerated::Enumerated(const DefinitionFile& file, const std::string& where)
    : file_(file),
      where_(where),
      extents_(bound_extents(file, where)),
      data_(test_contents(file, extents_, where)),
      zeros_(data_) {
    for (TensorData& tensor : zeros_) std::fill(tensor.values.begin(), tensor.values.end(), 0.0);
    at_ = std::make_unique<BodyValue>(file_.definition, extents_, data_, where_);
    at_zeros_ = std::make_unique<BodyValue>(file_.definition, extents_, zeros_, where_);
    Point point(extents_.iterators.size(), 0);
    while (true) {
        box_.push_back(point);
        at_->iterators = point;
        if (!definition().where || at_->value(*definition().where) != 0) executed_.push_back(point);
        size_t i = point.size();
        while (i > 0 && ++point[i - 1] == extents_.iterators[i - 1]) point[--i] = 0;
        if (i == 0) return;
    }
}

std::vector<EnumeratedAccess> Enumerated::accesses(int tensor) const {
    const Definition& d = definition();
    const TensorDecl& decl = d.tensors[static_cast<size_t>(tensor)];
    if (decl.role == Role::kOut || decl.role == Role::kUpdate) return {{decl.map, false}};
    std::vector<EnumeratedAccess> found;
    Definition without = d;
    without.where = nullptr;
    for (const Read& read : reads_in(read_roots(without)))
        if (read.tensor == tensor) found.push_back({read.coordinates, false});
    if (d.where)
        for (const Read& read : reads_in({d.where}))
            if (read.tensor == tensor) found.push_back({read.coordinates, true});
    return found;
}

Point Enumerated::coordinates(const std::vector<ExprPtr>& map, const Point& point) const {
    at_->iterators = point;
    Point at;
    for (const ExprPtr& component : map) at.push_back(at_->coordinate(*component));
    return at;
}

std::vector<Point> Enumerated::addresses(const std::vector<ExprPtr>& map, const Point& point) const {
    at_->iterators = point;
    at_zeros_->iterators = point;
    std::vector<Point> axes;
    for (const ExprPtr& component : map) {
        axes.push_back({at_zeros_->coordinate(*component)});
        for (const Read& read : reads_in({component}))
            for (const ExprPtr& inner : read.coordinates) axes.back().push_back(at_->coordinate(*inner));
    }
    return axes;
}

std::optional<int> Enumerated::packed_axis(const EnumeratedAccess& access, const Point& shape,
                                           size_t iterator, int64_t lanes) const {
    std::vector<bool> constant(shape.size(), true);
    std::vector<bool> runs(shape.size(), true);
    for (const Point& start : box_) {
        if (start[iterator] % lanes != 0) continue;
        const auto first = addresses(access.map, start);
        for (int64_t lane = 0; lane < lanes; ++lane) {
            Point point = start;
            point[iterator] += lane;
            const auto next = addresses(access.map, point);
            for (size_t a = 0; a < shape.size(); ++a) {
                constant[a] = constant[a] && next[a] == first[a];
                runs[a] = runs[a] && !is_indirect(access.map[a]) && first[a][0] % lanes == 0 &&
                          shape[a] % lanes == 0 && next[a][0] == first[a][0] + lane;
            }
        }
    }
    int axis = -1;
    for (size_t a = 0; a < shape.size(); ++a) {
        if (constant[a]) continue;
        if (!runs[a] || axis >= 0) return std::nullopt;
        axis = static_cast<int>(a);
    }
    return axis;
}

std::optional<std::vector<int>> Enumerated::pack(size_t iterator, int64_t lanes) const {
    if (extents_.iterators[iterator] % lanes != 0) return std::nullopt;
    std::vector<int> axes;
    for (size_t t = 0; t < definition().tensors.size(); ++t) {
        std::optional<int> common;
        for (const EnumeratedAccess& access : accesses(static_cast<int>(t))) {
            const auto axis = packed_axis(access, extents_.shapes[t], iterator, lanes);
            if (!axis || (common && *common != *axis)) return std::nullopt;
            common = axis;
        }
        axes.push_back(*common);
    }
    return axes;
}

json Enumerated::packs(int64_t lanes) const {
    json facts = json::object();
    for (size_t i = 0; i < extents_.iterators.size(); ++i)
        if (const auto axes = pack(i, lanes))
            for (size_t t = 0; t < axes->size(); ++t)
                facts[definition().iterators[i].name][definition().tensors[t].name] =
                    (*axes)[t] < 0 ? json() : json((*axes)[t]);
    return facts;
}

json Enumerated::units(const std::vector<UnitOperand>& unit) const {
    json facts = json::array();
    std::vector<int> pair = factors(definition());
    if (unit.empty() || pair.empty()) return facts;
    std::vector<std::string> axes;
    std::vector<std::map<std::string, int64_t>> total(unit.size());
    for (size_t o = 0; o < unit.size(); ++o)
        for (const auto& [axis, lanes] : unit[o].lanes) {
            if (std::count(axes.begin(), axes.end(), axis) == 0) axes.push_back(axis);
            total[o].emplace(axis, 1).first->second *= lanes;
        }
    std::vector<std::vector<size_t>> all;
    std::vector<size_t> none;
    arrangements(extents_.iterators.size(), axes.size(), none, all);
    std::map<std::pair<size_t, int64_t>, std::optional<std::vector<int>>> known;
    for (int order = 0; order < 2; ++order, std::swap(pair[0], pair[1])) {
        const std::vector<int> operands = {pair[0], pair[1], definition().results().back()};
        for (const auto& chosen : all) {
            bool good = true;
            json fact;
            for (size_t o = 0; o < 3; ++o)
                fact[unit[o].role] = definition().tensors[static_cast<size_t>(operands[o])].name;
            for (size_t i = 0; i < axes.size() && good; ++i) {
                int64_t lanes = 0;
                for (const auto& operand : total)
                    if (operand.contains(axes[i])) lanes = operand.at(axes[i]);
                const auto key = std::pair(chosen[i], lanes);
                if (!known.contains(key)) known[key] = pack(chosen[i], lanes);
                good = known[key] &&
                       definition().iterators[chosen[i]].is_reduction != total[2].contains(axes[i]);
                for (size_t o = 0; o < 3 && good; ++o)
                    good =
                        ((*known[key])[static_cast<size_t>(operands[o])] >= 0) == total[o].contains(axes[i]);
                fact[axes[i]] = definition().iterators[chosen[i]].name;
            }
            if (good) facts.push_back(fact);
        }
    }
    return facts;
}

}  // namespace tessera::facts
