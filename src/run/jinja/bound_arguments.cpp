#include "run/jinja/bound_arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "run/jinja/operators.h"

namespace tessera::jinja {

BoundArguments::BoundArguments(Context& context, std::string_view function, const Arguments& given,
                               std::initializer_list<std::string_view> parameters)
    : context_(context), function_(function), parameters_(parameters), values_(parameters.size()) {
    if (given.positional.size() > parameters_.size())
        context.fail(fmt::format("`{}` takes at most {} arguments", function, parameters_.size()));
    for (size_t i = 0; i < given.positional.size(); ++i) values_[i] = &given.positional[i];
    for (const auto& [name, value] : given.named) {
        const auto found = std::find(parameters_.begin(), parameters_.end(), name);
        if (found == parameters_.end())
            context.fail(fmt::format("`{}` has no parameter `{}`", function, name));
        const Value*& place = values_[static_cast<size_t>(found - parameters_.begin())];
        if (place != nullptr) context.fail(fmt::format("`{}` is given `{}` twice", function, name));
        place = &value;
    }
}

const Value& BoundArguments::at(size_t parameter) const {
    if (!has(parameter))
        context_.fail(fmt::format("`{}` needs the argument `{}`", function_, parameters_[parameter]));
    return *values_[parameter];
}

Value BoundArguments::value_or(size_t parameter, const Value& otherwise) const {
    return has(parameter) ? *values_[parameter] : otherwise;
}

Text BoundArguments::text_or(size_t parameter, std::string_view otherwise) const {
    if (!has(parameter)) return Text(std::string(otherwise));
    const Text* text = values_[parameter]->text();
    if (text == nullptr)
        context_.fail(fmt::format("`{}` of `{}` is {}, expected a text", parameters_[parameter], function_,
                                  described(*values_[parameter])));
    return *text;
}

int64_t BoundArguments::integer_or(size_t parameter, int64_t otherwise) const {
    if (!has(parameter)) return otherwise;
    if (!values_[parameter]->is_integer())
        context_.fail(fmt::format("`{}` of `{}` is {}, expected an integer", parameters_[parameter],
                                  function_, described(*values_[parameter])));
    return values_[parameter]->integer();
}

bool BoundArguments::boolean_or(size_t parameter, bool otherwise) const {
    return has(parameter) ? is_true(*values_[parameter]) : otherwise;
}

}  // namespace tessera::jinja
