#include <algorithm>

#include <nlohmann/json.hpp>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "nest/nests/level_search.h"
#include "nest/nests/nest_facts.h"
#include "nest/nests/space_search.h"

namespace {

/// True if its definitions are small enough to look at their elements many times a second.
bool is_small(const tessera::nests::KernelFile& file) {
    return std::ranges::all_of(file.operators, [](const tessera::DefinitionFile& op) {
        const tessera::BoundExtents extents = tessera::bound_extents(op, "fuzz");
        int64_t points = 1;
        for (const int64_t extent : extents.iterators) points *= extent;
        return points <= 4096 && std::ranges::all_of(extents.shapes, [](const auto& shape) {
                   int64_t elements = 1;
                   for (const int64_t extent : shape) elements *= extent;
                   return elements <= 65536;
               });
    });
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    using namespace tessera::nests;
    return fuzz::accepts_or_throws_error([&] {
        const KernelFile file = read_kernel_file(fuzz::text_of(data, size), "fuzz");
        if (!is_small(file)) return;
        if (file.levels) {
            if (file.sizes)
                (void)to_json(search(make_problem(file), {.candidates = 50, .walk = {.steps = 20'000}}))
                    .dump();
            else
                (void)to_json(derive_level_facts(file, {.steps = 20'000}), *file.levels).dump();
            return;
        }
        if (!file.nest) {
            (void)to_json(search(make_space(file), {.steps = 20'000})).dump();
            return;
        }
        const Kernel kernel = make_kernel(file);
        const auto nest = parse_nest(kernel, *file.nest);
        if (const auto* parsed = std::get_if<Nest>(&nest))
            TESSERA_CHECK(std::get<Nest>(parse_nest(kernel, print(written(kernel, *parsed)))) == *parsed);
        (void)to_json(derive_facts(file, {.steps = 20'000})).dump();
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    std::vector<std::string> files = repository_files("tests/nest/nests/instances", ".nest");
    for (const char* extension : {".space", ".tier", ".tiers"})
        for (std::string& file : repository_files("tests/nest/nests/instances", extension))
            files.push_back(std::move(file));
    return files;
}
