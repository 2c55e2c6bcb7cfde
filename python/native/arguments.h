#pragma once

#include <concepts>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

/// Values of Python become those of the library as they are, or not at all: nothing is cut to fit. An integer
/// is what Python takes for an index (`__index__`), of any library; a number of another kind, a truth value
/// or a text is none.
namespace tessera::python {

namespace py = pybind11;

/// @throws py::cast_error for what is not of the type
bool take(py::handle value, std::type_identity<bool>);
double take(py::handle value, std::type_identity<double>);
std::string take(py::handle value, std::type_identity<std::string>);
/// What Python has an index for, as an integer of Python.
py::int_ index_of(py::handle value);

template <std::integral T>
T take(py::handle value, std::type_identity<T>) {
    return index_of(value).cast<T>();
}

template <typename T>
T take(py::handle value, std::type_identity<T>) {
    return value.cast<T>();
}

template <typename T>
std::optional<T> take(py::handle value, std::type_identity<std::optional<T>>) {
    return take(value, std::type_identity<T>());
}

/// Any iterable, but no text: that is one text, where texts are wanted.
template <typename T>
std::vector<T> take(py::handle value, std::type_identity<std::vector<T>>) {
    const bool is_text =
        PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) || PyByteArray_Check(value.ptr());
    std::vector<T> result;
    if constexpr (std::same_as<T, std::string>)
        if (is_text) return {take(value, std::type_identity<std::string>())};
    if (is_text || PyDict_Check(value.ptr()) || !py::isinstance<py::iterable>(value)) throw py::cast_error();
    for (const py::handle item : value) result.push_back(take(item, std::type_identity<T>()));
    return result;
}

template <typename Key, typename T>
std::map<Key, T> take(py::handle value, std::type_identity<std::map<Key, T>>) {
    if (!py::hasattr(value, "items")) throw py::cast_error();
    std::map<Key, T> result;
    for (const py::handle item : value.attr("items")()) {
        const auto [key, mapped] = item.cast<std::pair<py::object, py::object>>();
        result[take(key, std::type_identity<Key>())] = take(mapped, std::type_identity<T>());
    }
    return result;
}

/// The arguments of a call by name, each of which must be read.
class Named {
public:
    explicit Named(py::dict values) : values_(std::move(values)) {}

    /// Sets `into` where the argument is given and not None. @throws TypeError that names it
    template <typename T>
    void read(const char* name, T& into) {
        if (!values_.contains(name)) return;
        const py::object value = values_.attr("pop")(name);
        if (value.is_none()) return;
        try {
            into = take(value, std::type_identity<T>());
        } catch (const py::cast_error&) {
            throw py::type_error(std::string(name) + " cannot be " + std::string(py::repr(value)));
        }
    }
    /// @throws TypeError for an argument that nobody has read
    void finish() const {
        if (values_.empty()) return;
        throw py::type_error("unknown option: " + std::string(py::str(values_.begin()->first)));
    }

private:
    py::dict values_;
};

}  // namespace tessera::python
