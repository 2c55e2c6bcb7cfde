// The treatment of output paths by every verb: only regular files are replaced.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/remembering_compiler.h"
#include "cli/toy_bench.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Every option that names a file to write. The output is OUT; `inspect` insists on .html.
const std::vector<std::string> kWriting = {
    "logits toy.tsr --ids ids.json --out OUT",
    "bench small.tsr --prefill 2 --decode 2 --repeat 1 --json OUT",
    "extract egraph.json --out OUT",
    "machine --out OUT",
    "compile model -q --search-effort 0 -o OUT",
    "retarget small.tsr -q --search-effort 0 -o OUT",
    "inspect small.tsr --egraph OUT",
};

class OutputPaths : public ToyBench {
protected:
    static void SetUpTestSuite() { compiler_ = new RememberingCompiler; }
    static void TearDownTestSuite() { delete compiler_; }
    void SetUp() override {
        ToyBench::SetUp();
        write("ids.json", "[2, 0, 1]");
        write(
            "egraph.json",
            R"({"nodes": {"a": {"op": "a", "children": [], "eclass": "0", "cost": 1}}, "root_eclasses": ["0"]})");
        fs::copy(TESSERA_SOURCE_DIR "/models/tessera-tiny", path("model"), fs::copy_options::recursive);
        ASSERT_EQ(tessera({"compile", "model", "-q", "-o", "small.tsr"}).exit_code, 0);
    }
    ProcessResult job(std::string command, const std::string& out, const std::string& rest = "") const {
        command.replace(command.find("OUT"), 3, out);
        return run_process({.program = "/usr/bin/env",
                            .arguments = {"-C", folder_.path(), "XDG_CACHE_HOME=" + path("cache"), "bash",
                                          "-c", "\"$0\" " + command + rest, TESSERA_PROGRAM}});
    }
    std::string content(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    /// False for bench, whose output contains times.
    static bool is_repeatable(const std::string& command) { return !command.starts_with("bench"); }

    static inline RememberingCompiler* compiler_ = nullptr;
};

TEST_F(OutputPaths, AFileAPipeAndALinkGetTheSame) {
    for (const std::string& command : kWriting) {
        SCOPED_TRACE(command);
        ProcessResult result = job(command, "plain.html");
        ASSERT_EQ(result.exit_code, 0) << result.errors;
        const std::string expected = content("plain.html");
        ASSERT_FALSE(expected.empty());

        fs::create_symlink("target", path("link.html"));
        ASSERT_EQ(job(command, "link.html").exit_code, 0);
        EXPECT_TRUE(fs::is_symlink(path("link.html")));
        fs::permissions(path("target"), fs::perms(0600));
        ASSERT_EQ(job(command, "link.html").exit_code, 0);
        EXPECT_EQ(fs::status(path("target")).permissions(), fs::perms(0600));
        EXPECT_TRUE(!is_repeatable(command) || content("target") == expected);

        ASSERT_EQ(mkfifo(path("pipe.html").c_str(), 0600), 0);
        result = job(command, "pipe.html", " & cat pipe.html > got; wait $!");
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_TRUE(fs::is_fifo(path("pipe.html")));
        EXPECT_TRUE(!is_repeatable(command) || content("got") == expected);
        EXPECT_FALSE(content("got").empty());
        for (const char* made : {"plain.html", "link.html", "target", "pipe.html", "got"})
            fs::remove(path(made));
    }
}

TEST_F(OutputPaths, ALimitOnFileSizesIsAnErrorThatLeavesNothing) {
    // In the cache whole files may stay.
    const auto files = [&] {
        std::set<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
            if (const std::string name = entry.path();
                !name.starts_with(path("cache")) || name.ends_with(".part"))
                names.insert(name);
        return names;
    };
    const std::set<std::string> before = files();
    for (std::string command : {kWriting.at(2), kWriting.at(3), kWriting.at(5)}) {
        command.replace(command.find("OUT"), 3, "out.html");
        const ProcessResult result =
            run_process({.program = "/usr/bin/env",
                         .arguments = {"-C", folder_.path(), "XDG_CACHE_HOME=" + path("cache"), "sh", "-c",
                                       "ulimit -f 0; exec \"$0\" " + command, TESSERA_PROGRAM}});
        EXPECT_EQ(result.exit_code, 1) << command << result.errors;
        EXPECT_THAT(result.errors, HasSubstr("out.html: cannot write the file: File too large")) << command;
        EXPECT_EQ(files(), before) << command;
    }
}

TEST_F(OutputPaths, WhatCannotBeWrittenIsSaidAtOnce) {
    fs::create_directory(path("folder.html"));
    write("file", "");
    for (const std::string& command : kWriting)
        for (const std::string out : {"folder.html", "nowhere/out.html", "file/out.html"}) {
            const ProcessResult result = job(command, out);
            EXPECT_EQ(result.exit_code, 1) << command << " " << out;
            EXPECT_THAT(result.errors, HasSubstr(out + ": ")) << command << result.errors;
        }
    fs::remove_all(path("cache"));
    EXPECT_THAT(tessera({"logits", "model", "--ids", "ids.json", "--out", "nowhere/l.bin"}).errors,
                HasSubstr("nowhere/l.bin: cannot create the file"));
    EXPECT_THAT(tessera({"bench", "model", "--json", "nowhere/l.bin"}).errors, HasSubstr("nowhere/l.bin: "));
    EXPECT_FALSE(fs::exists(path("cache"))) << "nothing is compiled in vain";
    for (const std::string dump : {"file", "file/below"}) {
        const ProcessResult result = tessera({"compile", "model", "-q", "-o", "o.tsr", "--dump", dump});
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_THAT(result.errors, HasSubstr(dump + ": cannot create the folder"));
    }
}

TEST_F(OutputPaths, AModelIsNotReplacedByItsArtefact) {
    write("model.gguf", "GGUF");
    fs::create_symlink("model.gguf", path("link"));
    for (const std::string out : {"model.gguf", "link", "./model.gguf"}) {
        const ProcessResult result = tessera({"compile", "model.gguf", "-o", out});
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_THAT(result.errors, HasSubstr("is the model itself"));
    }
    EXPECT_EQ(content("model.gguf"), "GGUF");
    EXPECT_EQ(tessera({"retarget", "small.tsr", "-q", "-o", "small.tsr"}).exit_code, 0);
}

TEST_F(OutputPaths, NamesMayBeAsLongAsTheSystemTakes) {
    const std::string longest(250, 'n');
    fs::rename(path("model"), path(longest));
    EXPECT_EQ(tessera({"run", longest, "-p", "1 + 1 =", "-n", "2"}).exit_code, 0);
    EXPECT_EQ(tessera({"compile", longest, "-q", "-o", std::string(251, 'o') + ".tsr"}).exit_code, 0);
    const ProcessResult result = tessera({"compile", longest, "-q", "-o", std::string(252, 'o') + ".tsr"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("cannot create the file: File name too long"));
}

}  // namespace
}  // namespace tessera
