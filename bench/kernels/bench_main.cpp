#include "bench_main.h"

#include <cstdio>

#include "cost/cost_model.h"
#include "machine/machine_text.h"
#include "support/error.h"

namespace tessera {

int bench_main(int argc, char** argv, const KernelBench& bench) {
    if (argc != 4 && argc != 5) {
        std::fprintf(stderr, "usage: %s MACHINE.toml INCLUDE CACHE [FILTER]\n", argv[0]);
        return 2;
    }
    try {
        const machine::Machine machine = machine::read_machine(argv[1]);
        if (!cost::is_measured(machine))
            throw Error(argv[1], "", "has no measurements", "write it with `tessera machine --measure`");
        const measure::MeasureOptions options{.seconds = 0.02,
                                              .include_directory = argv[2],
                                              .cache_directory = argv[3],
                                              .search_path = "/usr/local/bin:/usr/bin:/bin"};
        nlohmann::ordered_json found = {{"machine", machine::print_machine(machine)}};
        found.update(bench(machine, options, argc == 5 ? argv[4] : ""));
        std::printf("%s\n", found.dump(1).c_str());
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

}  // namespace tessera
