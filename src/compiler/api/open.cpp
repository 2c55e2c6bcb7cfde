#include "tessera/open.h"

#include <optional>
#include <utility>

#include "compiler/api/kept_artefact.h"
#include "compiler/api/model_file.h"
#include "import/gguf/gguf_parts.h"
#include "run/runtime/artefact.h"
#include "support/error.h"
#include "tessera/compile.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

ModelFile open_artefact(const fs::path& path, const OpenSettings& settings) {
    ModelFile model(path);
    expect_settings(model, settings);
    if (settings.embeddings && model.embedding_width() == 0)
        throw Error(path.string(), "", "was compiled without embeddings",
                    "compile the model again with --embeddings", ErrorKind::kUsage);
    return model;
}

}  // namespace

ModelFile open_model(const fs::path& model, const OpenSettings& given) {
    if (fs::is_regular_file(model) && runtime::is_artefact(model)) return open_artefact(model, given);
    if (!fs::exists(model))
        throw Error(model.string(), "", "does not exist",
                    "give an artefact, a HuggingFace folder or a GGUF file");
    std::optional<ModelFile> opened;
    open_kept(
        {.model = model,
         .files =
             [&] { return fs::is_directory(model) ? files_below(model) : import::GgufParts::names(model); },
         .wishes = {},
         .open = [&](const fs::path& artefact) { opened.emplace(artefact); },
         .compile = [&](const fs::path& artefact,
                        const CompileSettings& settings) { (void)compile(model, artefact, settings); }},
        given);
    return std::move(opened).value();
}

}  // namespace tessera
