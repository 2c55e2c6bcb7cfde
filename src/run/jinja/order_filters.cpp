#include <algorithm>

#include <fmt/format.h>

#include "run/jinja/attribute_path.h"
#include "run/jinja/bound_arguments.h"
#include "run/jinja/builtins.h"
#include "run/jinja/operators.h"

// Filters that order and compare items.

namespace tessera::jinja {
namespace {

/// Items with what they are compared by.
struct Keyed {
    std::vector<Value> keys;  ///< the first that differ decide
    Value item;
};

/// The keys of an item: its attributes, of which "a,b" names several, or the item itself.
class KeyOf {
public:
    KeyOf(Context& context, const BoundArguments& bound, size_t attribute, bool case_sensitive)
        : context_(context), case_sensitive_(case_sensitive) {
        if (!bound.has(attribute) || bound.at(attribute).is_none()) return;
        const Value& path = bound.at(attribute);
        if (path.text() == nullptr) {
            paths_.emplace_back(context, path);
            return;
        }
        const std::string& text = path.text()->bytes();
        for (size_t begin = 0; begin <= text.size();) {
            const size_t end = std::min(text.find(',', begin), text.size());
            paths_.emplace_back(context, Value::text(std::string_view(text).substr(begin, end - begin)));
            begin = end + 1;
        }
    }

    std::vector<Value> of(const Value& item) const {
        std::vector<Value> keys;
        for (const AttributePath& path : paths_) keys.push_back(folded(path.of(context_, item)));
        if (paths_.empty()) keys.push_back(folded(item));
        return keys;
    }
    Value one(const Value& item) const { return paths_.empty() ? item : paths_.front().of(context_, item); }
    Value folded(const Value& value) const { return case_sensitive_ ? value : without_case(context_, value); }

private:
    Context& context_;
    bool case_sensitive_;
    std::vector<AttributePath> paths_;
};

std::vector<Value> sorted(Context& context, std::vector<Keyed> items, bool reverse) {
    const auto before = [&](const Keyed& a, const Keyed& b) {
        for (size_t i = 0; i < a.keys.size(); ++i)
            if (!equals(context, a.keys[i], b.keys[i])) return order(context, a.keys[i], b.keys[i]) < 0;
        return false;
    };
    // Python keeps the order of equal items also where it reverses.
    std::stable_sort(items.begin(), items.end(),
                     [&](const Keyed& a, const Keyed& b) { return reverse ? before(b, a) : before(a, b); });
    std::vector<Value> result;
    for (Keyed& each : items) result.push_back(std::move(each.item));
    return result;
}

Value sort_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "sort", given, {"reverse", "case_sensitive", "attribute"});
    const KeyOf key(context, bound, 2, bound.boolean_or(1, false));
    std::vector<Keyed> items;
    for (Value& each : iterate(context, input)) items.push_back({key.of(each), each});
    return context.make(sorted(context, std::move(items), bound.boolean_or(0, false)));
}

Value dictsort_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "dictsort", given, {"case_sensitive", "by", "reverse"});
    const std::string by = bound.text_or(1, "key").bytes();
    if (by != "key" && by != "value") context.fail("`by` of `dictsort` is key or value");
    if (input.dict() == nullptr) {
        refuse_undefined(context, input);
        context.fail(fmt::format("`dictsort` is for mappings, not for {}", described(input)));
    }
    const bool case_sensitive = bound.boolean_or(0, false);
    std::vector<Keyed> items;
    for (const auto& [key, value] : input.dict()->items) {
        const Value& compared = by == "key" ? key : value;
        items.push_back({{case_sensitive ? compared : without_case(context, compared)},
                         context.make({key, value}, List::Kind::kTuple)});
    }
    return context.make(sorted(context, std::move(items), bound.boolean_or(2, false)));
}

/// The least or the greatest item; the first of equal ones.
template <bool greatest>
Value extreme_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, greatest ? "max" : "min", given, {"case_sensitive", "attribute"});
    const KeyOf key(context, bound, 1, bound.boolean_or(0, false));
    const std::vector<Value> items = iterate(context, input);
    if (items.empty()) return Value::undefined("the least or greatest of no items");
    size_t best = 0;
    Value best_key = key.folded(key.one(items[0]));
    for (size_t i = 1; i < items.size(); ++i) {
        Value next = key.folded(key.one(items[i]));
        const int sign = order(context, next, best_key);
        if (greatest ? sign <= 0 : sign >= 0) continue;
        best = i;
        best_key = std::move(next);
    }
    return items[best];
}

Value sum_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "sum", given, {"attribute", "start"});
    const KeyOf key(context, bound, 0, true);
    Value total = bound.value_or(1, Value::of(int64_t{0}));
    for (const Value& each : iterate(context, input)) total = add(context, total, key.one(each));
    return total;
}

Value unique_filter(Context& context, const Value& input, const Arguments& given) {
    const BoundArguments bound(context, "unique", given, {"case_sensitive", "attribute"});
    const KeyOf key(context, bound, 1, bound.boolean_or(0, false));
    std::vector<Value> seen;
    std::vector<Value> kept;
    for (Value& each : iterate(context, input)) {
        Value compared = key.folded(key.one(each));
        check_key(context, compared);
        if (std::any_of(seen.begin(), seen.end(),
                        [&](const Value& other) { return equals(context, other, compared); }))
            continue;
        seen.push_back(std::move(compared));
        kept.push_back(std::move(each));
    }
    return context.make(std::move(kept), List::Kind::kGenerator);
}

}  // namespace

const std::vector<NamedFilter>& order_filters() {
    static const std::vector<NamedFilter> filters = {
        {"dictsort", dictsort_filter}, {"max", extreme_filter<true>}, {"min", extreme_filter<false>},
        {"sort", sort_filter},         {"sum", sum_filter},           {"unique", unique_filter},
    };
    return filters;
}

}  // namespace tessera::jinja
