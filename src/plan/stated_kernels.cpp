#include "plan/stated_kernels.h"

#include "machine/toml_document.h"
#include "support/error.h"

namespace tessera::plan {
namespace {

constexpr size_t kLongestNest = 4096;

}  // namespace

std::vector<StatedText> read_stated_texts(std::string_view text, const std::string& where) {
    const machine::TomlDocument document(text, where);
    machine::TomlFields file = document.fields();
    std::vector<StatedText> stated;
    for (machine::TomlFields& fields : file.tables("kernel")) {
        StatedText kernel{.where = fields.line(), .specialisation = {}, .nest = {}};
        if (fields.has("specialisation")) kernel.specialisation = fields.text("specialisation");
        kernel.nest = fields.text("nest", kLongestNest);
        fields.finish();
        stated.push_back(std::move(kernel));
    }
    file.finish();
    return stated;
}

StatedKernel parse_stated_kernel(const StatedText& stated, MicroKernels kernels, std::vector<Load>& loads) {
    StatedKernel kernel{.where = stated.where, .specialisation = stated.specialisation};
    const auto before = static_cast<ptrdiff_t>(loads.size());
    kernel.nest = parse_open_nest(stated.nest, stated.where, kernels, &loads);
    kernel.loads.assign(loads.begin() + before, loads.end());
    if (divided_loop(kernel.nest))
        throw Error(stated.where, "nest", "divides work by @worker, which is found behind the search",
                    "leave @worker out, or edit the whole plan (docs/plan.md)");
    return kernel;
}

std::vector<StatedKernel> parse_stated_kernels(std::string_view text, const std::string& where,
                                               MicroKernels kernels) {
    std::vector<StatedKernel> stated;
    std::vector<Load> loads;
    for (const StatedText& each : read_stated_texts(text, where))
        stated.push_back(parse_stated_kernel(each, kernels, loads));
    return stated;
}

}  // namespace tessera::plan
