#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "native/convert.h"
#include "native/interpreter.h"

namespace tessera::python {
namespace {

/// A program of the library, which any thread may call. In a child of its process it opens its artefact
/// again.
class PyProgram {
public:
    explicit PyProgram(Program program) : program_(std::make_unique<Program>(std::move(program))) {}
    ~PyProgram() {
        if (!owner_.is_here()) (void)program_.release();
    }
    PyProgram(const PyProgram&) = delete;
    PyProgram& operator=(const PyProgram&) = delete;

    Program& program() {
        if (!owner_.is_here()) {
            auto again = std::make_unique<Program>(program_->path());
            (void)program_.release();  // whose threads nobody can wait for
            program_ = std::move(again);
            (void)calling_.release();  // which another thread of the parent may have
            calling_ = std::make_unique<std::mutex>();
            owner_.take_over();
        }
        return *program_;
    }

    std::map<std::string, Array> call(const std::map<std::string, ArrayView>& inputs,
                                      const CallOptions& options) {
        Program& program = this->program();
        const Outside interpreter;
        const std::lock_guard lock(*calling_);
        return program.call(inputs, options);
    }

private:
    Owner owner_;
    std::unique_ptr<Program> program_;
    std::unique_ptr<std::mutex> calling_ = std::make_unique<std::mutex>();
};

/// By name: the type as NumPy writes it, and the contents in the order of C.
using GivenArrays = std::map<std::string, std::pair<std::string, py::buffer>>;

/// The arrays, which stay where they are as long as this lives.
class Views {
public:
    explicit Views(const GivenArrays& arrays) {
        for (const auto& [name, array] : arrays) {
            const py::buffer_info& buffer = held_.emplace_back(array.second.request());
            views_[name] = {array.first,
                            {buffer.shape.begin(), buffer.shape.end()},
                            {static_cast<const std::byte*>(buffer.ptr),
                             static_cast<size_t>(buffer.size * buffer.itemsize)}};
        }
    }
    const std::map<std::string, ArrayView>& operator*() const { return views_; }

private:
    std::vector<py::buffer_info> held_;
    std::map<std::string, ArrayView> views_;
};

py::dict as_dict(const std::map<std::string, Array>& arrays) {
    py::dict results;
    for (const auto& [name, array] : arrays)
        results[py::str(name)] = py::make_tuple(array_bytes(array.bytes), array.type, array.shape);
    return results;
}

py::dict call(PyProgram& program, const GivenArrays& arrays, const std::map<std::string, int64_t>& symbols,
              bool continues) {
    const Views inputs(arrays);
    return as_dict(program.call(*inputs, {.symbols = symbols, .continues = continues}));
}

py::list as_list(const std::vector<ArrayInfo>& arrays) {
    py::list list;
    for (const ArrayInfo& array : arrays) list.append(py::make_tuple(array.name, array.type, array.shape));
    return list;
}

py::dict as_dict(const OnnxDescription& model) {
    const auto ports = [](const std::vector<OnnxDescription::Port>& all) {
        py::list list;
        for (const OnnxDescription::Port& port : all)
            list.append(py::make_tuple(port.name, port.type,
                                       port.has_shape ? py::cast(port.shape) : py::none(), port.symbols));
        return list;
    };
    py::dict result;
    result["ir_version"] = model.ir_version;
    result["producer"] = model.producer;
    result["domain"] = model.domain;
    result["description"] = model.description;
    result["graph_name"] = model.graph_name;
    result["graph_description"] = model.graph_description;
    result["version"] = model.version;
    result["metadata"] = model.metadata;
    result["opsets"] = model.opsets;
    result["inputs"] = ports(model.inputs);
    result["outputs"] = ports(model.outputs);
    return result;
}

}  // namespace

OnnxSettings onnx_settings(py::dict settings) {
    Named named(std::move(settings));
    OnnxSettings result;
    std::map<std::string, std::tuple<int64_t, int64_t, int64_t>> dims;
    named.read("dims", dims);
    for (const auto& [name, bounds] : dims) {
        const auto [low, high, step] = bounds;
        result.dims[name] = {low, high, step};
    }
    named.read("constants", result.constants);
    named.read("aliases", result.aliases);
    std::map<std::string, std::pair<double, std::map<std::string, int64_t>>> points;
    named.read("points", points);
    for (const auto& [name, point] : points)
        result.points.push_back({.name = name, .weight = point.first, .values = point.second});
    named.finish();
    return result;
}

void declare_program(py::module_& module) {
    py::class_<PyProgram, std::shared_ptr<PyProgram>>(module, "Program")
        .def(py::init([](const std::filesystem::path& artefact) {
            return std::make_shared<PyProgram>(Program(artefact));
        }))
        .def_property_readonly("artefact", [](PyProgram& p) { return p.program().path(); })
        .def_property_readonly("workers", [](PyProgram& p) { return p.program().workers(); })
        .def_property_readonly("inputs", [](PyProgram& p) { return as_list(p.program().inputs()); })
        .def_property_readonly("outputs", [](PyProgram& p) { return as_list(p.program().outputs()); })
        .def_property_readonly("states", [](PyProgram& p) { return as_list(p.program().states()); })
        .def("call", call);
    module.def("open_onnx", [](const std::filesystem::path& model, py::dict onnx, py::dict settings) {
        const OnnxSettings what = onnx_settings(std::move(onnx));
        const OpenSettings how = open_settings(std::move(settings));
        const Outside interpreter;
        return std::make_shared<PyProgram>(open_onnx(model, what, how));
    });
    module.def("interpret_onnx",
               [](const std::filesystem::path& model, py::dict onnx, const GivenArrays& arrays) {
                   const OnnxSettings what = onnx_settings(std::move(onnx));
                   const Views inputs(arrays);
                   std::map<std::string, Array> results;
                   {
                       const Outside interpreter;
                       results = interpret_onnx(model, what, *inputs);
                   }
                   return as_dict(results);
               });
    module.def("describe_onnx",
               [](const std::filesystem::path& model) { return as_dict(describe_onnx(model)); });
    module.def("unsupported_in_onnx", [](const std::filesystem::path& model, py::dict onnx) {
        const OnnxSettings what = onnx_settings(std::move(onnx));
        const Outside interpreter;
        return unsupported_in_onnx(model, what);
    });
}

}  // namespace tessera::python
