#include "import/onnx/call.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/error.h"

namespace tessera::import::onnx {

const Operand& Call::in(size_t input) const {
    if (!has(input)) refuse(fmt::format("lacks its input {}", input));
    return *inputs_[input];
}

std::vector<Operand> Call::all() const {
    std::vector<Operand> all;
    for (size_t i = 0; i < inputs_.size(); ++i) all.push_back(in(i));
    return all;
}

const Attribute* Call::attribute(const std::string& name) const {
    const auto found = node_.attributes.find(name);
    return found == node_.attributes.end() ? nullptr : &found->second;
}

int64_t Call::integer(const std::string& name, int64_t otherwise) const {
    const Attribute* found = attribute(name);
    return found ? found->integer : otherwise;
}

double Call::number(const std::string& name, double otherwise) const {
    const Attribute* found = attribute(name);
    return found ? static_cast<double>(found->number) : otherwise;
}

std::string Call::text(const std::string& name, const std::string& otherwise) const {
    const Attribute* found = attribute(name);
    return found ? found->text : otherwise;
}

std::vector<int64_t> Call::integers(const std::string& name, const std::vector<int64_t>& otherwise) const {
    const Attribute* found = attribute(name);
    return found ? found->integers : otherwise;
}

std::vector<double> Call::numbers(const std::string& name) const {
    const Attribute* found = attribute(name);
    return found ? std::vector<double>(found->numbers.begin(), found->numbers.end()) : std::vector<double>();
}

const Operand& Call::known(size_t input, bool may_have_symbols) const {
    const Operand& operand = in(input);
    if (operand.known || (may_have_symbols && operand.forms)) return operand;
    const std::string& name = node_.inputs[input];
    if (operand.forms)
        refuse(fmt::format("has an input {}, `{}`, that depends on a symbolic extent", input, name),
               "give it by --dim NAME=NUMBER");
    refuse(fmt::format("has an input {}, `{}`, that is not known when the model is compiled", input, name),
           "it decides a shape, an axis or a place: make it an initializer, or let it follow from shapes");
}

std::vector<int64_t> Call::known_integers(size_t input) const {
    return integers_of(known(input));
}

std::vector<double> Call::known_numbers(size_t input) const {
    return numbers_of(known(input));
}

void Call::expect_one_element(size_t input) const {
    const Operand& operand = in(input);
    if (operand.is_static() && operand.elements() == 1) return;
    refuse(fmt::format("has an input {}, `{}`, that is not one number", input, node_.inputs[input]));
}

int64_t Call::known_integer(size_t input) const {
    expect_one_element(input);
    return known_integers(input).front();
}

double Call::known_number(size_t input) const {
    expect_one_element(input);
    return known_numbers(input).front();
}

LinearForm Call::form(size_t input) const {
    expect_one_element(input);
    return forms(input).front();
}

Forms Call::forms(size_t input) const {
    const std::optional<Forms> forms = forms_of(known(input, true));
    if (!forms)
        refuse(fmt::format("has an input {}, `{}`, of too many elements", input, node_.inputs[input]));
    return *forms;
}

std::vector<Dim> Call::known_shape(size_t input) const {
    std::vector<Dim> shape;
    for (const LinearForm& form : forms(input)) shape.push_back(dim(form));
    return shape;
}

Dim Call::dim(const LinearForm& form) const {
    const std::optional<Dim> dim = dim_of(form);
    if (!dim && form.is_constant()) refuse(fmt::format("has the extent {}", form.constant));
    if (!dim)
        refuse(fmt::format("makes the extent {}, expected a number or a multiple of one symbol", print(form)),
               "give the symbols by --dim NAME=NUMBER");
    return *dim;
}

size_t Call::axis(int64_t number, size_t rank) const {
    const auto axes = static_cast<int64_t>(rank);
    if (number < -axes || number >= axes)
        refuse(fmt::format("has the axis {}, expected one of {} axes", number, rank));
    return static_cast<size_t>(number < 0 ? number + axes : number);
}

std::vector<size_t> Call::axes(const std::vector<int64_t>& numbers, size_t rank) const {
    std::vector<size_t> axes;
    for (const int64_t number : numbers) axes.push_back(axis(number, rank));
    std::ranges::sort(axes);
    if (std::ranges::adjacent_find(axes) != axes.end()) refuse("names an axis twice");
    return axes;
}

std::vector<int64_t> Call::extents(const Operand& operand) const {
    return extents_from(operand, 0);
}

std::vector<int64_t> Call::extents_from(const Operand& operand, size_t first) const {
    std::vector<int64_t> extents;
    for (size_t axis = first; axis < operand.rank(); ++axis) extents.push_back(extent(operand, axis));
    return extents;
}

int64_t Call::extent(const Operand& operand, size_t axis) const {
    if (axis >= operand.rank()) refuse(fmt::format("has no axis {} in {} axes", axis, operand.rank()));
    const Dim& dim = operand.shape[axis];
    if (!dim.is_constant())
        refuse(fmt::format("needs a number as its extent {} along axis {}", print(linear_form(dim)), axis),
               fmt::format("give it by --dim {}=NUMBER", *dim.symbol));
    return dim.factor;
}

void Call::refuse(const std::string& problem, const std::string& advice) const {
    throw Error("", "", problem, advice);
}

}  // namespace tessera::import::onnx
