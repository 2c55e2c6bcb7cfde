#include "plan/stated_kernels.h"

#include "machine/toml_document.h"
#include "support/error.h"

namespace tessera::plan {
namespace {

constexpr size_t kLongestNest = 4096;

}  // namespace

std::vector<StatedKernel> parse_stated_kernels(std::string_view text, const std::string& where,
                                               MicroKernels kernels) {
    const machine::TomlDocument document(text, where);
    machine::TomlFields file = document.fields();
    std::vector<StatedKernel> stated;
    std::vector<Load> loads;
    for (machine::TomlFields& fields : file.tables("kernel")) {
        StatedKernel kernel{.where = fields.line()};
        if (fields.has("specialisation")) kernel.specialisation = fields.text("specialisation");
        const auto before = static_cast<ptrdiff_t>(loads.size());
        kernel.nest = parse_open_nest(fields.text("nest", kLongestNest), kernel.where, kernels, &loads);
        kernel.loads.assign(loads.begin() + before, loads.end());
        fields.finish();
        if (divided_loop(kernel.nest))
            throw Error(kernel.where, "nest", "divides work by @worker, which is found behind the search",
                        "leave @worker out, or edit the whole plan (docs/plan.md)");
        stated.push_back(std::move(kernel));
    }
    file.finish();
    return stated;
}

}  // namespace tessera::plan
