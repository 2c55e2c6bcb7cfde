#include "native/arguments.h"

namespace tessera::python {

bool take(py::handle value, std::type_identity<bool>) {
    // Without conversions: True, False, and those of NumPy.
    py::detail::make_caster<bool> caster;
    if (!caster.load(value, false)) throw py::cast_error();
    return caster;
}

double take(py::handle value, std::type_identity<double>) {
    const bool is_complex = py::hasattr(value, "imag") && !py::object(value.attr("imag")).equal(py::int_(0));
    if (PyBool_Check(value.ptr()) || is_complex) throw py::cast_error();
    return value.cast<double>();
}

std::string take(py::handle value, std::type_identity<std::string>) {
    if (!PyUnicode_Check(value.ptr())) throw py::cast_error();
    return value.cast<std::string>();
}

py::int_ index_of(py::handle value) {
    if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr())) throw py::cast_error();
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
