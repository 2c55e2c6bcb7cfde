#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler.h"

/// Graph and plan of an earlier compilation, kept by content beside the code that was made from them: a model
/// of the same shapes and types takes them, whatever its name and its weights are.
namespace tessera::compiler {

struct KeptPlan {
    Graph graph;      ///< as rewritten, without the copies of the plan
    plan::Plan plan;  ///< complete; a caller verifies it, as any plan of a file
    std::vector<std::string> cut_short = {};
};

/// The file that would hold it; empty where nothing is kept: a plan, kernels or measured kernels are given,
/// all passes are to be dumped, there is no folder, or this build of Tessera has no name. Its name is a
/// digest of the imported graph but for its name, the machine, the options of the passes and the build.
std::filesystem::path kept_plan_file(const Graph& imported, const CompileOptions& options);

/// Nothing if there is none, or if it is damaged, of another version, or of other content than its name says.
/// @param name of the graph
std::optional<KeptPlan> kept_plan(const std::filesystem::path& file, const std::string& name);

/// @throws Error where it cannot be written
void keep_plan(const std::filesystem::path& file, const KeptPlan& kept);

}  // namespace tessera::compiler
