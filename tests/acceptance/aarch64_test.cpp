// The shipped model, compiled for machines/neon.toml, on an emulated AArch64: a session on this machine
// records its steps, tests/aarch64/run_steps.cpp takes them under qemu, and the logits are those of the
// shipped reference.

#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acceptance/shipped_model.h"
#include "compiler/compiler.h"
#include "machine/machine_text.h"
#include "run/llm/session.h"
#include "run/llm/token_ids_file.h"
#include "run/runtime/artefact.h"
#include "support/error.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSearchPath = "/usr/local/bin:/usr/bin:/bin";

void write(const fs::path& path, std::span<const std::byte> bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// The steps of a session in the form that run_steps reads.
class StepRecorder {
public:
    StepRecorder(const runtime::Manifest& manifest, const std::map<std::string, int64_t>& state_symbols)
        : manifest_(manifest) {
        std::vector<int64_t> symbols;
        for (const DimSymbol& symbol : manifest.symbols) {
            const auto known = state_symbols.find(symbol.name);
            symbols.push_back(known == state_symbols.end() ? symbol.low : known->second);
        }
        int64_t arena = 0;
        for (const auto& specialisation : manifest.specialisations)
            arena = std::max(arena, specialisation.arena_bytes);
        number(manifest.symbols.size());
        number(manifest.inputs.size());
        number(manifest.outputs.size());
        number(arena);
        number(manifest.states.size());
        for (const auto& state : manifest.states) number(*runtime::byte_size(manifest, state, symbols));
    }

    void step(std::span<const int64_t> symbols, std::span<const std::span<const std::byte>> inputs,
              std::span<const std::span<std::byte>> outputs) {
        entries_.insert(entry_for(symbols));
        number(entry_for(symbols));
        for (const int64_t symbol : symbols) number(symbol);
        for (const auto& input : inputs) {
            number(input.size());
            recording_.append(reinterpret_cast<const char*>(input.data()), input.size());
        }
        for (const auto& output : outputs) number(output.size());
    }

    const std::string& recording() const { return recording_; }
    size_t entries_used() const { return entries_.size(); }

private:
    template <typename Number>
    void number(Number value) {
        const auto wide = static_cast<int64_t>(value);
        recording_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
    }

    size_t entry_for(std::span<const int64_t> symbols) const {
        for (size_t s = 0; s < manifest_.specialisations.size(); ++s) {
            bool holds = true;
            for (size_t i = 0; i < symbols.size(); ++i) {
                const auto& bounds = manifest_.specialisations[s].bounds.at(manifest_.symbols[i].name);
                holds = holds && bounds.low <= symbols[i] && symbols[i] <= bounds.high;
            }
            if (holds) return s;
        }
        throw Error("recording", "", "no specialisation fits");
    }

    const runtime::Manifest& manifest_;
    std::string recording_;
    std::set<size_t> entries_;
};

class AArch64 : public ::testing::Test {
protected:
    void SetUp() override {
        compiler_ = find_program("aarch64-linux-gnu-g++", kSearchPath).value_or("");
        emulator_ = find_program("qemu-aarch64", kSearchPath).value_or("");
        if (compiler_.empty() || emulator_.empty())
            GTEST_SKIP() << "needs the Debian packages g++-aarch64-linux-gnu and qemu-user";
    }

    fs::path compile() const {
        compiler::CompileOptions options{
            .machine = machine::read_machine(fs::path(TESSERA_SOURCE_DIR) / "machines" / "neon.toml"),
            .ntt_include = fs::path(TESSERA_SOURCE_DIR) / "include",
            .search_path = kSearchPath,
            .cache = folder_.path() / "cache"};
        options.machine.cores = 1;  // run_steps has no other threads
        const fs::path artefact = folder_.path() / "neon.tsr";
        (void)compiler::compile_model(shipped_model(), artefact, options);
        return artefact;
    }

    void run(const fs::path& program, std::vector<std::string> arguments) const {
        const ProcessResult result = run_process({.program = program, .arguments = std::move(arguments)});
        ASSERT_EQ(result.exit_code, 0) << result.errors;
    }
    std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

    /// The outputs of all recorded steps.
    std::string emulate(const runtime::Artefact& artefact, const std::string& recording) {
        write(file("code.so"), std::as_bytes(std::span(artefact.code())));
        write(file("constants"), artefact.constants());
        write(file("recording"), std::as_bytes(std::span(recording)));
        const std::string source = TESSERA_SOURCE_DIR "/tests/aarch64/run_steps.cpp";
        run(compiler_, {"-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-I",
                        TESSERA_SOURCE_DIR "/include", "-o", file("run_steps"), source, "-ldl"});
        std::vector<std::string> arguments = {"-L",
                                              "/usr/aarch64-linux-gnu",
                                              file("run_steps"),
                                              file("code.so"),
                                              file("constants"),
                                              file("recording"),
                                              file("outputs")};
        for (const auto& specialisation : artefact.manifest().specialisations)
            arguments.push_back(specialisation.entry);
        run(emulator_, arguments);
        return bytes_of(file("outputs"));
    }

    TemporaryFolder folder_;
    fs::path compiler_, emulator_;
};

TEST_F(AArch64, TheShippedModelGivesItsReference) {
    const runtime::Artefact artefact = runtime::Artefact::open(compile());
    EXPECT_EQ(artefact.manifest().architecture, "aarch64");
    EXPECT_THROW(artefact.check_host("x86_64", {}), Error);

    constexpr std::array<std::string_view, 1> kKeys = {"ids"};
    std::vector<TokenId> ids = llm::read_token_ids(shipped_model() / "reference" / "ids.json", kKeys);
    const std::string expected = bytes_of(shipped_model() / "reference" / "logits.bin");
    const size_t row_bytes = static_cast<size_t>(artefact.manifest().text->vocabulary) * sizeof(float);
    ids.resize(std::min(ids.size(), expected.size() / row_bytes));
    ASSERT_GT(ids.size(), 8U);

    // A chunk of several tokens, then one by one: both specialisations.
    const llm::SessionOptions options{.context = static_cast<int64_t>(ids.size())};
    const auto run_session = [&](const llm::StepFunction& step, const llm::LogitsSink& sink) {
        llm::Session session(artefact.manifest(), options, step);
        const llm::SequenceId sequence = session.open();
        const std::span<const TokenId> all(ids);
        const size_t first = ids.size() - 4;
        for (size_t begin = 0; begin < ids.size();) {
            const auto part = all.subspan(begin, begin == 0 ? first : 1);
            const llm::Addition addition{sequence, part, llm::every_row(part)};
            session.add({&addition, 1}, sink);
            begin += part.size();
        }
    };
    StepRecorder recorder(artefact.manifest(), llm::Session::state_symbols(artefact.manifest(), options));
    run_session([&](auto symbols, auto inputs, auto outputs) { recorder.step(symbols, inputs, outputs); },
                [](size_t, int32_t, std::span<const float>) {});
    EXPECT_EQ(recorder.entries_used(), artefact.manifest().specialisations.size());

    const std::string outputs = emulate(artefact, recorder.recording());
    size_t at = 0;
    llm::LogitsComparison comparison(artefact.manifest().text->vocabulary);
    run_session(
        [&](auto, auto, std::span<const std::span<std::byte>> into) {
            for (const auto& output : into) {
                ASSERT_LE(at + output.size(), outputs.size());
                std::memcpy(output.data(), outputs.data() + at, output.size());
                at += output.size();
            }
        },
        [&](size_t, int32_t, std::span<const float> logits) {
            std::vector<float> wanted(logits.size());
            std::memcpy(wanted.data(), expected.data() + static_cast<size_t>(comparison.rows()) * row_bytes,
                        row_bytes);
            comparison.add(wanted, logits);
        });
    EXPECT_EQ(at, outputs.size());
    EXPECT_EQ(comparison.rows(), static_cast<int64_t>(ids.size()));
    EXPECT_LE(comparison.worst_error(), 3e-6) << comparison.worst_element();
}

}  // namespace
}  // namespace tessera::testing
