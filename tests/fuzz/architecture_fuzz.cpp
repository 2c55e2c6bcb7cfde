#include "fuzz/input_file.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "import/architecture/architectures.h"
#include "import/architecture/parse_architecture.h"
#include "import/hf/config.h"
#include "import/model_graph.h"
#include "import/resolve_model.h"
#include "support/error.h"

// A text of an architecture: it is parsed and printed, and the model of its defaults is built.

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tessera;
    return fuzz::accepts_or_throws_error([&] {
        const auto other = [](std::string_view name) -> std::string_view {
            for (const import::ShippedText& each : import::shipped_texts())
                if (each.name == name) return each.text;
            return {};
        };
        const import::Architecture architecture =
            import::parse_architecture(fuzz::text_of(data, size), "fuzz.arch", other);
        const std::string printed = import::print(architecture);
        const import::Architecture again = import::parse_architecture(printed, "again.arch", other);
        TESSERA_CHECK(import::print(again) == printed, "{}", printed);
        if (architecture.classes.empty()) return;
        const fuzz::InputFile text(printed), config(R"({"model_type": ")" + architecture.name + R"("})");
        const std::filesystem::path file = text.path();
        import::Findings findings;
        const auto read = import::read_hf_config(config.path(), import::Architectures({&file, 1}), findings);
        if (!read || read->layers_differ || read->layers > 64) return;
        (void)import::build_model(import::assume_model(*read, "fuzz", ops::WeightFormat::kF32),
                                  {.context = 64, .max_tokens = 8, .max_sequences = 2});
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    return repository_files("architectures", ".arch");
}
