#include "lowering/plan/stated_kernels.h"

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

StatedWithLoads parse_stated_kernel(const StatedText& stated, MicroKernels kernels, int64_t& loads) {
    NestWithLoads nest = parse_nest_with_loads(stated.nest, stated.where, kernels, loads);
    if (divided_loop(without_loads(nest)))
        throw Error(stated.where, "nest", "divides work by @worker, which is found behind the search",
                    "leave @worker out, or edit the whole plan (docs/plan.md)");
    return {stated.where, stated.specialisation, std::move(nest)};
}

std::vector<StatedWithLoads> parse_stated_kernels(std::string_view text, const std::string& where,
                                                  MicroKernels kernels) {
    std::vector<StatedWithLoads> stated;
    int64_t loads = 0;
    for (const StatedText& each : read_stated_texts(text, where))
        stated.push_back(parse_stated_kernel(each, kernels, loads));
    return stated;
}

}  // namespace tessera::plan
