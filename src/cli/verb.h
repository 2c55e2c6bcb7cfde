#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/environment.h"

namespace CLI {
class App;
}

namespace tessera::cli {

/// Runs the verb after its arguments have been parsed.
/// @return the exit code: 0 success, 1 failed job. An Error thrown by it is printed and becomes 1, or 2 by
/// its kind.
using Job = std::function<int()>;

/// One subcommand of the tool. A verb is one file `cli/<verb>.cpp` with one function, declared below and
/// listed in main.cpp. Text that the user asked for goes to stdout, everything else to stderr.
struct Verb {
    std::string name;
    std::string help;                   ///< one line, lower case, without a full stop
    std::vector<std::string> examples;  ///< whole command lines, shown by --help; at least one

    /// Declares the options and gives the job that reads them: the variables bound to the options must live
    /// in the job (a shared_ptr to a struct of options). `environment` outlives the job.
    std::function<Job(CLI::App&, const Environment& environment)> declare;
};

Verb architecture_verb();
Verb bench_verb();
Verb cache_verb();
Verb chat_verb();
Verb check_verb();
Verb chip_verb();
Verb compile_verb();
Verb completion_verb();
Verb distribute_verb();
Verb embed_verb();
Verb explain_verb();
Verb extract_verb();
Verb inspect_verb();
Verb logits_verb();
Verb machine_verb();
Verb nest_verb();
Verb price_verb();
Verb op_verb();
Verb opt_verb();
Verb perplexity_verb();
Verb retarget_verb();
Verb run_verb();
Verb schedule_verb();
Verb serve_verb();
Verb tiles_verb();
Verb tokenize_verb();
Verb tune_verb();
Verb verify_verb();

}  // namespace tessera::cli
