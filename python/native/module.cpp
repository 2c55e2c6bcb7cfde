#include "native/convert.h"
#include "native/interpreter.h"

/// The extension: thin calls of the library, which the modules in Python beside it document and give types.
namespace tessera::python {

void translate_errors(const py::object& error_class) {
    static py::object of_python;  // as long as the interpreter
    of_python = error_class;
    of_python.inc_ref();
    py::register_exception_translator([](std::exception_ptr fault) {
        try {
            if (fault) std::rethrow_exception(fault);
        } catch (const Error& error) {
            const py::object raised = of_python(error.where, error.entity, error.problem, error.advice,
                                                error.kind == ErrorKind::kUsage);
            PyErr_SetObject(of_python.ptr(), raised.ptr());
        }
    });
}

void declare_compiling(py::module_& module) {
    const auto compiling = [](auto&& job) {
        CompileReport report;
        {
            const Outside interpreter;
            report = job();
        }
        return as_dict(report);
    };
    module.def("compile",
               [=](const std::filesystem::path& model, const std::filesystem::path& out, py::dict settings) {
                   const CompileSettings how = compile_settings(std::move(settings));
                   return compiling([&] { return tessera::compile(model, out, how); });
               });
    module.def("compile_onnx", [=](const std::filesystem::path& model, const std::filesystem::path& out,
                                   py::dict onnx, py::dict settings) {
        const OnnxSettings what = onnx_settings(std::move(onnx));
        const CompileSettings how = compile_settings(std::move(settings));
        return compiling([&] { return tessera::compile_onnx(model, what, out, how); });
    });
    module.def("retarget", [=](const std::filesystem::path& artefact, const std::filesystem::path& out,
                               py::dict settings) {
        const CompileSettings how = compile_settings(std::move(settings));
        return compiling([&] { return tessera::retarget(artefact, out, how); });
    });
    module.def(
        "inspect", [](const std::filesystem::path& artefact, bool costs, const std::filesystem::path& machine,
                      const std::filesystem::path& measured_machines) {
            const Outside interpreter;
            return tessera::inspect(
                artefact, {.costs = costs, .machine = machine, .measured_machines = measured_machines});
        });
    module.def("plan_text", [](const std::filesystem::path& artefact) { return plan_text(artefact); });
}

}  // namespace tessera::python

PYBIND11_MODULE(_native, module) {
    using namespace tessera::python;
    module.doc() = "The library of Tessera; `import tessera` is the way in.";
    watch_interpreter();
    module.attr("source_directory") = TESSERA_SOURCE_DIRECTORY;
    translate_errors(py::module_::import("tessera.errors").attr("Error"));
    declare_compiling(module);
    declare_model(module);
    declare_engine(module);
    declare_program(module);
}
