#include "run/runtime/artefact.h"

#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/runtime/toy_model.h"
#include "support/error.h"

namespace tessera::runtime {
namespace {

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

/// The small artefact of these tests; its code is never loaded.
ArtefactParts parts() {
    return {ToyModel().manifest(),
            "not really code",
            "the plan",
            "the graph",
            {{"tokenizer.json", "{}"}, {"empty", ""}, {"merges.txt", std::string(5000, 'm')}}};
}

void write_constants(ConstantSink& sink) {
    sink.advance_to(64);
    sink.write(std::as_bytes(std::span("1234", 4)));
}

class ArtefactFile : public ::testing::Test {
protected:
    void SetUp() override { write_artefact(path_, parts(), write_constants); }

    std::string open_problem(std::string_view bytes) {
        const std::filesystem::path path = folder_.path() / "b.tsr";
        write(path, bytes);
        try {
            Artefact::open(path);
        } catch (const Error& error) {
            return std::string(error.what()).substr(path.string().size());
        }
        return "";
    }

    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_.path() / "a.tsr";
};

TEST_F(ArtefactFile, GivesBackWhatWasWritten) {
    const Artefact artefact = Artefact::open(path_);
    const ArtefactParts expected = parts();
    EXPECT_EQ(artefact.manifest(), expected.manifest);
    EXPECT_EQ(artefact.code(), expected.code);
    EXPECT_EQ(artefact.plan(), expected.plan);
    EXPECT_EQ(artefact.graph(), expected.graph);
    EXPECT_EQ(artefact.tokenizer(), expected.tokenizer);
    const std::string constants(reinterpret_cast<const char*>(artefact.constants().data()),
                                artefact.constants().size());
    EXPECT_EQ(constants, std::string(64, '\0') + "1234" + std::string(60, '\0'));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(artefact.constants().data()) % 4096, 0U);
    artefact.verify_weights();
}

TEST_F(ArtefactFile, SameContentsSameBytes) {
    write_artefact(folder_.path() / "again.tsr", parts(), [](ConstantSink& sink) {
        sink.advance_to(3);
        sink.advance_to(64);
        sink.write(std::as_bytes(std::span("12", 2)));
        sink.write(std::as_bytes(std::span("34", 2)));
        EXPECT_EQ(sink.position(), 68);
    });
    EXPECT_EQ(content_of(path_), content_of(folder_.path() / "again.tsr"));
}

TEST_F(ArtefactFile, NothingIsLeftWhenTheWriterFails) {
    const auto fails = [](ConstantSink&) { throw Error("model", "w", "is bad"); };
    EXPECT_THROW(write_artefact(folder_.path() / "c.tsr", parts(), fails), Error);
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "c.tsr"));
    const std::string before = content_of(path_);
    EXPECT_THROW(write_artefact(path_, parts(), fails), Error);
    EXPECT_EQ(content_of(path_), before);
}

TEST_F(ArtefactFile, NamesThatAreNoFileNamesAreRefused) {
    for (const std::string& name : {std::string("a/b"), std::string(64, 'n'), std::string("a\0b", 3)}) {
        ArtefactParts bad = parts();
        bad.tokenizer[0].name = name;
        EXPECT_THROW(write_artefact(folder_.path() / "c.tsr", bad, write_constants), Error);
    }
}

TEST_F(ArtefactFile, AnyShorterFileIsRefused) {
    const std::string whole = content_of(path_);
    EXPECT_EQ(open_problem(whole.substr(0, 40)),
              ": is truncated within its header (compile the model again)");
    EXPECT_EQ(open_problem(whole.substr(0, 4000)),
              fmt::format(": has 4000 bytes, its header says {}: it is truncated (compile the model again)",
                          whole.size()));
    EXPECT_NE(open_problem(whole + "x"), "");
    for (size_t length = whole.size(); length-- > 0;) {
        std::filesystem::resize_file(path_, length);
        EXPECT_THROW(Artefact::open(path_), Error) << length;
    }
}

/// Changes single bytes of a file where it lies: these tests open thousands of damaged files.
class Flipper {
public:
    explicit Flipper(const std::filesystem::path& path)
        : path_(path), bytes_(content_of(path)), file_(path, kMode) {}
    size_t size() const { return bytes_.size(); }

    /// The message of the Error that `check` throws on the file with the byte at `at` flipped by `mask`.
    std::string problem(size_t at, int mask, void (*check)(const Artefact&)) {
        put(at, static_cast<char>(bytes_[at] ^ mask));
        std::string message;
        try {
            check(Artefact::open(path_));
        } catch (const Error& error) {
            message = error.what();
        }
        put(at, bytes_[at]);
        return message;
    }

private:
    static constexpr auto kMode = std::ios::binary | std::ios::in | std::ios::out;

    void put(size_t at, char byte) {
        file_.seekp(static_cast<std::streamoff>(at));
        file_.put(byte).flush();
    }

    std::filesystem::path path_;
    std::string bytes_;
    std::fstream file_;
};

TEST_F(ArtefactFile, AnyFlippedBitOutsideTheWeightsIsRefused) {
    Flipper flipper(path_);
    const auto only_open = [](const Artefact&) {};
    ASSERT_EQ(flipper.problem(0, 0, only_open), "");
    for (size_t i = 0; i < flipper.size() - 128; ++i)
        EXPECT_NE(flipper.problem(i, 1 << i % 8, only_open), "") << "byte " << i;
}

TEST_F(ArtefactFile, FlippedWeightsShowWhenTheyAreVerified) {
    Flipper flipper(path_);
    const auto verify_weights = [](const Artefact& artefact) { artefact.verify_weights(); };
    ASSERT_EQ(flipper.problem(0, 0, verify_weights), "");
    for (size_t i = flipper.size() - 128; i < flipper.size(); ++i) {
        EXPECT_NE(flipper.problem(i, 16, verify_weights), "") << "byte " << i;
        EXPECT_EQ(flipper.problem(i, 16, [](const Artefact&) {}), "") << "byte " << i;
    }
}

TEST_F(ArtefactFile, SaysWhatIsWrong) {
    const std::string whole = content_of(path_);
    EXPECT_EQ(open_problem("GGUF...."),
              ": is not a Tessera artefact (`tessera compile MODEL -o OUT.tsr` makes one)");
    std::string other = whole;
    other[8] = 9;
    EXPECT_EQ(open_problem(other),
              ": has format version 9, this Tessera reads 1 (compile the model again with this version)");
    other = whole;
    other[other.find("not really code")] = 'N';
    EXPECT_EQ(open_problem(other),
              ": `code`: is damaged: its checksum does not fit (compile the model again)");
    other = whole;
    other[other.find("mmmm")] = 'n';
    EXPECT_EQ(open_problem(other),
              ": `merges.txt`: is damaged: its checksum does not fit (compile the model again)");
    other = whole;
    other[30] = static_cast<char>(other[30] ^ 1);
    EXPECT_EQ(open_problem(other),
              ": `header`: is damaged: its checksum does not fit (compile the model again)");
}

TEST_F(ArtefactFile, MadeForAnotherMachine) {
    ArtefactParts modern = parts();
    modern.manifest.machine = "server";
    modern.manifest.instruction_sets = {"avx2", "avx512f", "avx512vnni"};
    write_artefact(path_, modern, write_constants);
    const Artefact artefact = Artefact::open(path_);
    const auto problem = [&](std::string_view architecture,
                             const std::set<std::string>& features) -> std::string {
        try {
            artefact.check_host(architecture, features);
        } catch (const Error& error) {
            return error.problem;
        }
        return "";
    };
    EXPECT_EQ(problem("x86_64", {"fma", "avx512_vnni", "avx2", "avx512f"}), "");
    EXPECT_EQ(problem("x86_64", {"avx2"}),
              "was made for another machine (`server`): this one lacks avx512f, avx512vnni");
    EXPECT_EQ(problem("aarch64", {"asimd"}), "was made for x86_64 machines, this one is aarch64");
}

TEST_F(ArtefactFile, TilesNeedTheSystemToo) {
    ArtefactParts tiles = parts();
    tiles.manifest.instruction_sets = {"avx2", "amx-tile", "amx-bf16"};
    write_artefact(path_, tiles, write_constants);
    const Artefact artefact = Artefact::open(path_);
    artefact.check_host("x86_64", {"avx2", "amx_tile", "amx_bf16"});
    try {
        artefact.check_host("x86_64", {"avx2"});
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.problem, ::testing::HasSubstr("this one lacks amx-tile, amx-bf16"));
        EXPECT_THAT(error.advice, ::testing::HasSubstr("tessera retarget"));
        EXPECT_THAT(error.advice, ::testing::HasSubstr("Linux 5.16"));
    }
}

TEST_F(ArtefactFile, IsToldFromOtherFiles) {
    EXPECT_TRUE(is_artefact(path_));
    write(folder_.path() / "other", "GGUF and more");
    EXPECT_FALSE(is_artefact(folder_.path() / "other"));
    write(folder_.path() / "empty", "");
    EXPECT_FALSE(is_artefact(folder_.path() / "empty"));
    EXPECT_THROW(is_artefact(folder_.path() / "missing"), Error);
}

}  // namespace
}  // namespace tessera::runtime
