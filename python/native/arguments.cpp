#include "native/arguments.h"

namespace tessera::python {
namespace {

/// True, False, and those of NumPy, which may have an index.
bool is_truth_value(py::handle value) {
    return py::detail::make_caster<bool>().load(value, false);
}

}  // namespace

bool take(py::handle value, std::type_identity<bool>) {
    if (!is_truth_value(value)) throw py::cast_error();
    return value.cast<bool>();
}

double take(py::handle value, std::type_identity<double>) {
    const bool is_complex = py::hasattr(value, "imag") && !py::object(value.attr("imag")).equal(py::int_(0));
    if (is_truth_value(value) || is_complex) throw py::cast_error();
    return value.cast<double>();
}

std::string take(py::handle value, std::type_identity<std::string>) {
    if (!PyUnicode_Check(value.ptr())) throw py::cast_error();
    return value.cast<std::string>();
}

py::int_ index_of(py::handle value) {
    if (is_truth_value(value) || !PyIndex_Check(value.ptr())) throw py::cast_error();
    PyObject* index = PyNumber_Index(value.ptr());
    if (index == nullptr) {
        // A type may have the method and refuse: an array of several, or of real numbers.
        if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
        PyErr_Clear();
        throw py::cast_error();
    }
    return py::reinterpret_steal<py::int_>(index);
}

}  // namespace tessera::python
