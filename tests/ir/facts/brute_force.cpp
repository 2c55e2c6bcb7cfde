#include "ir/facts/brute_force.h"

#include <algorithm>
#include <functional>
#include <set>

#include "ir/facts/enumerated.h"

namespace tessera::facts {
namespace {

using nlohmann::json;

struct Count {
    int64_t flops = 0;
    int64_t special = 0;
};

bool reads_or_folds(const ExprPtr& expr) {
    bool found = false;
    walk(expr, [&](const Expr& node) {
        found |= std::holds_alternative<Read>(node.node) || std::holds_alternative<Folded>(node.node);
        return true;
    });
    return found;
}

Count operations(const ExprPtr& expr) {
    Count total;
    if (!expr) return total;
    walk(expr, [&](const Expr& node) {
        if (std::holds_alternative<Read>(node.node)) return false;
        const auto* call = std::get_if<Apply>(&node.node);
        if (!call) return true;
        const bool varies = std::any_of(call->arguments.begin(), call->arguments.end(), reads_or_folds);
        static const std::set<Function> kPlain = {Function::kAdd,      Function::kSub,  Function::kMul,
                                                  Function::kDivide,   Function::kMod,  Function::kNegate,
                                                  Function::kFloorDiv, Function::kMin,  Function::kMax,
                                                  Function::kAbs,      Function::kRound};
        total.flops += varies && kPlain.contains(call->function);
        total.special += varies && is_special(call->function);
        return true;
    });
    return total;
}

std::set<Point> elements(const Enumerated& run, int tensor, const std::vector<ExprPtr>& map,
                         const std::vector<Point>& points) {
    std::set<Point> found;
    const auto& shape = run.extents().shapes[static_cast<size_t>(tensor)];
    for (const Point& point : points) {
        Point at = run.coordinates(map, point);
        bool inside = true;
        for (size_t a = 0; a < at.size(); ++a) inside &= at[a] >= 0 && at[a] < shape[a];
        if (inside) found.insert(std::move(at));
    }
    return found;
}

json work(const Enumerated& run) {
    const Definition& d = run.definition();
    const std::vector<Point> executed = run.executed();
    const auto points = static_cast<int64_t>(executed.size());
    const Count body = operations(d.body[0]);
    Count total;
    const auto charge = [&](int64_t times, Count each) {
        total.flops += times * each.flops;
        total.special += times * each.special;
    };
    if (d.monoid == Monoid::kSoftmaxSum) {
        const std::vector<int> used = iterators_in(d.tensors[static_cast<size_t>(d.results()[1])].map);
        std::vector<Point> once = executed;
        for (size_t i = 0; i < d.iterators.size(); ++i) {
            if (d.iterators[i].is_reduction || std::count(used.begin(), used.end(), static_cast<int>(i)) > 0)
                continue;
            int64_t first = INT64_MAX;
            for (const Point& p : executed) first = std::min(first, p[i]);
            std::erase_if(once, [&](const Point& p) { return p[i] != first; });
        }
        const Count value = operations(d.body[1]);
        charge(static_cast<int64_t>(once.size()), {body.flops + 3, body.special + 1});
        charge(points, {value.flops + 2, value.special});
    } else {
        charge(points, {body.flops + (d.monoid != Monoid::kNone), body.special});
        const int result = d.results()[0];
        const auto reached = elements(run, result, d.tensors[static_cast<size_t>(result)].map, run.box());
        charge(static_cast<int64_t>(reached.size()), operations(d.post));
    }
    return {{"points", points}, {"flops", total.flops}, {"special", total.special}};
}

json touched(const Enumerated& run, int tensor) {
    std::set<Point> found;
    for (const EnumeratedAccess& access : run.accesses(tensor))
        found.merge(elements(run, tensor, access.map, access.in_predicate ? run.box() : run.executed()));
    const auto count = static_cast<int64_t>(found.size());
    const int64_t in_bits = count * bits(run.definition().tensors[static_cast<size_t>(tensor)].type);
    return {{"elements", count}, {"bytes", (in_bits + 7) / 8}};
}

json depends(const Enumerated& run, int tensor) {
    json names = json::array();
    const auto& iterators = run.definition().iterators;
    for (size_t i = 0; i < iterators.size(); ++i) {
        bool changes = false;
        for (const EnumeratedAccess& access : run.accesses(tensor))
            for (Point point : run.box()) {
                if (changes || ++point[i] == run.extents().iterators[i]) continue;
                const auto after = run.addresses(access.map, point);
                --point[i];
                changes = after != run.addresses(access.map, point);
            }
        if (changes) names.push_back(iterators[i].name);
    }
    return names;
}

json footprint(const Enumerated& run, int tensor, const std::vector<Point>& tile) {
    std::set<Point> found;
    const auto& shape = run.extents().shapes[static_cast<size_t>(tensor)];
    std::vector<bool> indirect(shape.size(), false);
    for (const EnumeratedAccess& access : run.accesses(tensor)) {
        found.merge(elements(run, tensor, access.map, tile));
        for (size_t a = 0; a < shape.size(); ++a) indirect[a] = indirect[a] || is_indirect(access.map[a]);
    }
    std::vector<int64_t> origin(shape.size(), 0);
    std::vector<int64_t> extent(shape.size(), 0);
    for (size_t a = 0; a < shape.size() && !found.empty(); ++a) {
        int64_t low = INT64_MAX;
        int64_t high = 0;
        for (const Point& p : found) {
            low = std::min(low, p[a]);
            high = std::max(high, p[a]);
        }
        origin[a] = indirect[a] ? 0 : low;
        extent[a] = indirect[a] ? shape[a] : high - low + 1;
    }
    return {{"origin", origin}, {"extent", extent}, {"elements", found.size()}};
}

std::vector<Point> tile_points(const Enumerated& run, const TestSetup& test, bool last) {
    std::vector<Point> points = run.box();
    for (const auto& [name, tile] : test.tile) {
        const auto i = static_cast<size_t>(run.definition().iterator(name));
        const int64_t first = last ? (run.extents().iterators[i] - 1) / tile.size * tile.size : tile.origin;
        std::erase_if(points, [&](const Point& p) { return p[i] < first || p[i] >= first + tile.size; });
    }
    return points;
}

}  // namespace

json brute_force_facts(const DefinitionFile& file, const std::string& where) {
    const Enumerated run(file, where);
    const auto for_tensors = [&](const std::function<json(int)>& fact) {
        json object = json::object();
        for (size_t t = 0; t < run.definition().tensors.size(); ++t)
            object[run.definition().tensors[t].name] = fact(static_cast<int>(t));
        return object;
    };
    json facts;
    facts["work"] = work(run);
    facts["touched"] = for_tensors([&](int t) { return touched(run, t); });
    facts["depends"] = for_tensors([&](int t) { return depends(run, t); });
    for (const bool last : {false, true}) {
        const std::vector<Point> tile = tile_points(run, file.test, last);
        facts["tiles"][last ? "last" : "interior"] =
            for_tensors([&](int t) { return footprint(run, t, tile); });
    }
    facts["packs"] = run.packs(file.test.lanes);
    facts["units"] = run.units(file.test.unit);
    return facts;
}

}  // namespace tessera::facts
