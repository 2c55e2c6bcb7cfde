#include "cli/serve/shipped_artefact.h"

#include "compiler/compiler.h"
#include "import/quantised/mixture.h"
#include "machine/probe.h"
#include "support/search_path.h"
#include "support/temporary_folder.h"

namespace tessera::serve::testing {

namespace fs = std::filesystem;

fs::path shipped_artefact() {
    static const TemporaryFolder folder;
    static const fs::path path = [] {
        const fs::path root = TESSERA_SOURCE_DIR;
        compiler::CompileOptions options;
        options.machine = machine::probe_host();
        options.ntt_include = root / "include";
        options.search_path = compiler_search_path();
        options.cache = folder.path() / "cache";
        options.workers = 2;
        options.embeddings = true;
        options.quantisation = import::mixture_of("q4_k_m");
        const fs::path artefact = folder.path() / "tiny.tsr";
        (void)compiler::compile_model(root / "models" / "tessera-tiny", artefact, options);
        return artefact;
    }();
    return path;
}

}  // namespace tessera::serve::testing
