#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>
#include <utf8proc.h>

#include "run/jinja/bound_arguments.h"
#include "run/jinja/builtins.h"
#include "run/jinja/operators.h"
#include "run/jinja/text_operations.h"

// The methods of Python's texts, lists and mappings that do not change the value.

namespace tessera::jinja {
namespace {

using Method = Value (*)(Context&, const Value& self, const Arguments&);

struct NamedMethod {
    std::string_view name;
    Method method;
};

std::vector<Value> values_of(std::vector<Text> texts) {
    std::vector<Value> values;
    for (Text& text : texts) values.push_back(Value::of(std::move(text)));
    return values;
}

/// An optional argument, which may be none.
std::optional<Text> optional_text(const BoundArguments& bound, size_t parameter) {
    if (!bound.has(parameter) || bound.at(parameter).is_none()) return std::nullopt;
    return bound.text_or(parameter, "");
}

template <Case wanted>
Value cased(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, "upper", given, {});
    return context.make(with_case(context, *self.text(), wanted));
}

template <Ends ends>
Value strip(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, "strip", given, {"chars"});
    return context.make(stripped(context, *self.text(), ends, optional_text(bound, 0)));
}

template <Ends where>
Value justify(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, "center", given, {"width", "fillchar"});
    (void)bound.at(0);
    return context.make(
        justified(context, *self.text(), bound.integer_or(0, 0), bound.text_or(1, " "), where));
}

template <bool is_end>
Value starts_or_ends(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, is_end ? "endswith" : "startswith", given, {"prefix"});
    const List* list = bound.at(0).list();
    const std::vector<Value> wanted =
        list != nullptr && list->kind == List::Kind::kTuple ? list->items : std::vector<Value>{bound.at(0)};
    return Value::of(std::any_of(wanted.begin(), wanted.end(), [&](const Value& each) {
        if (each.text() == nullptr)
            context.fail(fmt::format("a prefix is {}, expected a text", described(each)));
        const std::string_view bytes = self.text()->bytes();
        return is_end ? bytes.ends_with(each.text()->bytes()) : bytes.starts_with(each.text()->bytes());
    }));
}

/// The position in characters; -1 if there is none.
template <bool from_right, bool must_be_there>
Value find_text(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, "find", given, {"sub"});
    (void)bound.at(0);
    const std::string& bytes = self.text()->bytes();
    const std::string wanted = bound.text_or(0, "").bytes();
    context.step(static_cast<int64_t>(bytes.size() / 16));
    const size_t at = from_right ? bytes.rfind(wanted) : bytes.find(wanted);
    if (at == std::string::npos && must_be_there) context.fail("the text to be found is not there");
    return Value::of(at == std::string::npos ? int64_t{-1}
                                             : count_characters(std::string_view(bytes).substr(0, at)));
}

template <bool from_right>
Value split_text(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, "split", given, {"sep", "maxsplit"});
    const auto function = from_right ? split_from_right : split;
    return context.make(
        values_of(function(context, *self.text(), optional_text(bound, 0), bound.integer_or(1, -1))));
}

template <bool from_right>
Value partition(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, "partition", given, {"sep"});
    (void)bound.at(0);
    const Text separator = bound.text_or(0, "");
    if (separator.empty()) context.fail("the separator is empty");
    const Text& text = *self.text();
    const size_t at =
        from_right ? text.bytes().rfind(separator.bytes()) : text.bytes().find(separator.bytes());
    std::vector<Text> parts;
    if (at == std::string::npos)
        parts = from_right ? std::vector<Text>{{}, {}, text} : std::vector<Text>{text, {}, {}};
    else
        parts = {text.slice(0, at), separator, text.slice(at + separator.size(), text.size())};
    context.allocate(text.size());
    return context.make(values_of(std::move(parts)), List::Kind::kTuple);
}

template <bool is_end>
Value remove_end(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, is_end ? "removesuffix" : "removeprefix", given, {"part"});
    (void)bound.at(0);
    const Text& text = *self.text();
    const std::string part = bound.text_or(0, "").bytes();
    if (is_end)
        return text.bytes().ends_with(part) ? context.make(text.slice(0, text.size() - part.size())) : self;
    return text.bytes().starts_with(part) ? context.make(text.slice(part.size(), text.size())) : self;
}

/// True if there are characters, and all are of this kind.
template <typename Is>
Value all_characters(Context& context, const Value& self, const Arguments& given, Is is) {
    const BoundArguments bound(context, "isdigit", given, {});
    const std::string_view bytes = self.text()->bytes();
    context.step(static_cast<int64_t>(bytes.size() / 16));
    for (size_t at = 0; at < bytes.size();) {
        const Character next = first_character(bytes.substr(at));
        if (next.code_point < 0 || !is(next.code_point)) return Value::of(false);
        at += next.size;
    }
    return Value::of(!bytes.empty());
}

bool is_letter(int code_point) {
    const auto category = utf8proc_category(code_point);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(int code_point) {
    return utf8proc_category(code_point) == UTF8PROC_CATEGORY_ND;
}

/// True if there are letters with case, all of this one.
template <bool upper>
Value has_case_only(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, upper ? "isupper" : "islower", given, {});
    return Value::of(is_cased(context, *self.text(), upper));
}

Value join(Context& context, const Value& self, const Arguments& given) {
    const BoundArguments bound(context, "join", given, {"iterable"});
    Text result;
    bool is_first = true;
    for (const Value& each : iterate(context, bound.at(0))) {
        if (each.text() == nullptr)
            context.fail(fmt::format("`join` of a text cannot have {}", described(each)));
        if (!std::exchange(is_first, false)) result.append(*self.text());
        result.append(*each.text());
    }
    return context.make(std::move(result));
}

constexpr NamedMethod kTextMethods[] = {
    {"capitalize", cased<Case::kCapitalize>},
    {"center", justify<Ends::kBoth>},
    {"count",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "count", given, {"sub"});
         (void)bound.at(0);
         const Text part = bound.text_or(0, "");
         if (part.empty()) return Value::of(count_characters(self.text()->bytes()) + 1);
         return Value::of(static_cast<int64_t>(split(context, *self.text(), part, -1).size()) - 1);
     }},
    {"endswith", starts_or_ends<true>},
    {"find", find_text<false, false>},
    {"format", [](Context& context, const Value& self,
                  const Arguments& given) { return format_braces(context, *self.text(), given); }},
    {"index", find_text<false, true>},
    {"isalnum",
     [](Context& context, const Value& self, const Arguments& given) {
         return all_characters(context, self, given, [](int c) { return is_letter(c) || is_decimal(c); });
     }},
    {"isalpha", [](Context& context, const Value& self,
                   const Arguments& given) { return all_characters(context, self, given, is_letter); }},
    {"isdigit", [](Context& context, const Value& self,
                   const Arguments& given) { return all_characters(context, self, given, is_decimal); }},
    {"islower", has_case_only<false>},
    {"isspace", [](Context& context, const Value& self,
                   const Arguments& given) { return all_characters(context, self, given, is_space); }},
    {"isupper", has_case_only<true>},
    {"join", join},
    {"ljust", justify<Ends::kLeft>},
    {"lower", cased<Case::kLower>},
    {"lstrip", strip<Ends::kLeft>},
    {"partition", partition<false>},
    {"removeprefix", remove_end<false>},
    {"removesuffix", remove_end<true>},
    {"replace",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "replace", given, {"old", "new", "count"});
         (void)bound.at(0), (void)bound.at(1);
         return context.make(replaced(context, *self.text(), bound.text_or(0, ""), bound.text_or(1, ""),
                                      bound.integer_or(2, -1)));
     }},
    {"rfind", find_text<true, false>},
    {"rindex", find_text<true, true>},
    {"rjust", justify<Ends::kRight>},
    {"rpartition", partition<true>},
    {"rsplit", split_text<true>},
    {"rstrip", strip<Ends::kRight>},
    {"split", split_text<false>},
    {"splitlines",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "splitlines", given, {"keepends"});
         return context.make(values_of(split_lines(context, *self.text(), bound.boolean_or(0, false))));
     }},
    {"startswith", starts_or_ends<false>},
    {"strip", strip<Ends::kBoth>},
    {"title", cased<Case::kTitle>},
    {"upper", cased<Case::kUpper>},
};

constexpr NamedMethod kDictMethods[] = {
    {"copy",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "copy", given, {});
         return self;
     }},
    {"get",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "get", given, {"key", "default"});
         check_key(context, bound.at(0));
         const Value* member = find(context, *self.dict(), bound.at(0));
         return member != nullptr ? *member : bound.value_or(1, Value::none());
     }},
    {"items",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "items", given, {});
         std::vector<Value> pairs;
         for (const auto& [key, value] : self.dict()->items)
             pairs.push_back(context.make({key, value}, List::Kind::kTuple));
         return context.make(std::move(pairs), List::Kind::kView);
     }},
    {"keys",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "keys", given, {});
         return context.make(iterate(context, self), List::Kind::kView);
     }},
    {"values",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "values", given, {});
         std::vector<Value> values;
         for (const auto& [key, value] : self.dict()->items) values.push_back(value);
         return context.make(std::move(values), List::Kind::kView);
     }},
};

constexpr NamedMethod kListMethods[] = {
    {"copy",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "copy", given, {});
         return self;
     }},
    {"count",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "count", given, {"value"});
         int64_t count = 0;
         for (const Value& each : self.list()->items) count += equals(context, each, bound.at(0)) ? 1 : 0;
         return Value::of(count);
     }},
    {"index",
     [](Context& context, const Value& self, const Arguments& given) {
         const BoundArguments bound(context, "index", given, {"value"});
         const auto& items = self.list()->items;
         for (size_t i = 0; i < items.size(); ++i)
             if (equals(context, items[i], bound.at(0))) return Value::of(static_cast<int64_t>(i));
         context.fail("the value is not in the list");
     }},
};

// Other methods of Python. The first ones change the value, as the sandbox of `transformers` forbids.
constexpr std::string_view kDictChanges[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::string_view kListChanges[] = {"append", "clear",  "extend",  "insert",
                                             "pop",    "remove", "reverse", "sort"};
constexpr std::string_view kTextOnly[] = {"casefold",  "encode",       "expandtabs", "format_map",  "isascii",
                                          "isdecimal", "isidentifier", "isnumeric",  "isprintable", "istitle",
                                          "maketrans", "swapcase",     "translate",  "zfill"};

}  // namespace

std::optional<Value> find_method(Context& context, const Value& self, const std::string& name) {
    const auto in = [&](const auto& names) {
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    };
    const List* list = self.list();
    const bool is_list =
        list != nullptr && list->kind != List::Kind::kGenerator && list->kind != List::Kind::kView;
    if ((self.dict() != nullptr && in(kDictChanges)) ||
        (is_list && list->kind == List::Kind::kList && in(kListChanges)))
        return Value::undefined(fmt::format("{}, which would change the value,", name));
    if (self.text() != nullptr && in(kTextOnly))
        context.fail(fmt::format("the method `{}` of texts is not supported", name));
    const auto bind = [&](const auto& methods) -> std::optional<Value> {
        for (const NamedMethod& each : methods)
            if (each.name == name)
                return context.make_callable(
                    name, self, [self, method = each.method](Context& inner, const Arguments& given) {
                        return method(inner, self, given);
                    });
        return std::nullopt;
    };
    if (self.text() != nullptr) return bind(kTextMethods);
    if (self.dict() != nullptr) return bind(kDictMethods);
    if (is_list && (name != "copy" || list->kind == List::Kind::kList)) return bind(kListMethods);
    return std::nullopt;
}

}  // namespace tessera::jinja
