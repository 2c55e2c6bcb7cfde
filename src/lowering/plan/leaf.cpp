#include "lowering/plan/leaf.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::plan {
namespace {

constexpr size_t kAbsent = SIZE_MAX;

size_t position_of(const MicroKernel& kernel, std::string_view name) {
    const auto at = std::find_if(kernel.parameters.begin(), kernel.parameters.end(),
                                 [&](const Parameter& p) { return p.name == name; });
    return at == kernel.parameters.end() ? kAbsent : static_cast<size_t>(at - kernel.parameters.begin());
}

Leaf::Value default_of(const Parameter& parameter) {
    return parameter.is_iterator() ? Leaf::Value(std::string()) : Leaf::Value(parameter.default_number());
}

std::string text_of(const Leaf::Value& value) {
    const auto* number = std::get_if<int64_t>(&value);
    return number ? std::to_string(*number) : std::get<std::string>(value);
}

}  // namespace

Leaf::Value& Leaf::at(const Parameter& parameter) {
    const size_t at = position_of(*kernel, parameter.name);
    TESSERA_CHECK(at != kAbsent && kernel->parameters[at].kind == parameter.kind, "{} of {}", parameter.name,
                  kernel->name);
    if (values_.empty())
        for (const Parameter& each : kernel->parameters) values_.push_back(default_of(each));
    return values_[at];
}

int64_t Leaf::number(const Parameter& parameter) const {
    const size_t at = position_of(*kernel, parameter.name);
    if (at == kAbsent) return parameter.default_number();
    return values_.empty() ? kernel->parameters[at].default_number() : std::get<int64_t>(values_[at]);
}

const std::string& Leaf::iterator(const Parameter& parameter) const {
    static const std::string none;
    const size_t at = position_of(*kernel, parameter.name);
    return at == kAbsent || values_.empty() ? none : std::get<std::string>(values_[at]);
}

bool Leaf::is_given(const Parameter& parameter) const {
    const size_t at = position_of(*kernel, parameter.name);
    return at != kAbsent && !values_.empty() && values_[at] != default_of(kernel->parameters[at]);
}

Leaf& Leaf::set(const Parameter& parameter, int64_t value) {
    std::get<int64_t>(at(parameter)) = value;
    return *this;
}

Leaf& Leaf::set(const Parameter& parameter, std::string iterator) {
    std::get<std::string>(at(parameter)) = std::move(iterator);
    return *this;
}

Leaf& Leaf::reset(const Parameter& parameter) {
    const size_t at = position_of(*kernel, parameter.name);
    if (at != kAbsent && !values_.empty()) values_[at] = default_of(kernel->parameters[at]);
    return *this;
}

bool Leaf::operator==(const Leaf& other) const {
    if (node != other.node || kernel != other.kernel) return false;
    if (values_.empty() == other.values_.empty()) return values_ == other.values_;
    const std::vector<Value>& values = values_.empty() ? other.values_ : values_;
    return std::equal(values.begin(), values.end(), kernel->parameters.begin(),
                      [](const Value& value, const Parameter& p) { return value == default_of(p); });
}

std::vector<std::pair<std::string_view, Leaf::Value>> Leaf::stated() const {
    std::vector<std::pair<std::string_view, Value>> found;
    for (size_t i = 0; i < kernel->parameters.size(); ++i) {
        const Parameter& parameter = kernel->parameters[i];
        const Value otherwise = default_of(parameter);
        const Value& value = values_.empty() ? otherwise : values_[i];
        if (parameter.is_stated || value != otherwise) found.emplace_back(parameter.name, value);
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return found;
}

std::map<std::string, int64_t> Leaf::numbers() const {
    std::map<std::string, int64_t> result;
    for (const auto& [name, value] : stated())
        if (const auto* number = std::get_if<int64_t>(&value)) result.emplace(name, *number);
    return result;
}

std::string print(const Leaf& leaf) {
    std::string out = fmt::format("{}[{}", leaf.node, leaf.kernel->name);
    for (const auto& [name, value] : leaf.stated()) out += fmt::format(" {}={}", name, text_of(value));
    return out + "]";
}

int iterator_of(const Definition& definition, const Leaf& leaf, const Parameter& parameter) {
    const std::string& name = leaf.iterator(parameter);
    return name.empty() ? -1 : definition.iterator(name);
}

std::vector<int> sums_of_call(const Definition& definition, const Leaf& leaf) {
    const MicroKernel& kernel = *leaf.kernel;
    if (kernel.product.k && !(kernel.sums_all && kernel.sums_all(definition, leaf)))
        return {iterator_of(definition, leaf, *kernel.product.k)};
    std::vector<int> sums;
    for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x)
        if (definition.iterators[static_cast<size_t>(x)].is_reduction) sums.push_back(x);
    return sums;
}

std::optional<BadParameter> bad_parameter(const Definition& definition, const Leaf& leaf) {
    for (const Parameter& parameter : leaf.kernel->parameters) {
        std::string why;
        if (!parameter.is_iterator()) {
            why = why_out_of_range(parameter, leaf.number(parameter));
        } else if (const std::string& name = leaf.iterator(parameter);
                   !name.empty() && definition.iterator(name) < 0) {
            why = fmt::format("names {}, which is no iterator of the operator", name);
        }
        if (!why.empty()) return BadParameter{std::string(parameter.name), std::move(why)};
    }
    return std::nullopt;
}

void check_parameters(const Definition& definition, const Leaf& leaf) {
    if (const auto bad = bad_parameter(definition, leaf)) throw Error(leaf.node, bad->name, bad->problem);
}

}  // namespace tessera::plan
