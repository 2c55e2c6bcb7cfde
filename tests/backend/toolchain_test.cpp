#include "backend/toolchain.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera::backend {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kAnswer = R"(extern "C" int answer() { return 42; })";

void write_text(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

class Loaded {
public:
    Loaded(const SharedObject& object, const fs::path& file) {
        std::ofstream(file, std::ios::binary) << object.bytes;
        handle_ = dlopen(file.c_str(), RTLD_NOW);
        if (handle_ == nullptr) throw std::runtime_error(dlerror());
    }
    ~Loaded() { dlclose(handle_); }
    Loaded(const Loaded&) = delete;
    Loaded& operator=(const Loaded&) = delete;

    template <class Function>
    Function function(const char* name) const {
        void* address = dlsym(handle_, name);
        if (address == nullptr) throw std::runtime_error(dlerror());
        return reinterpret_cast<Function>(address);
    }

private:
    void* handle_;
};

/// A separate environment for the compiler: an NTT of one header, a cache in a folder whose name needs
/// quoting in a shell.
class Toolchain : public ::testing::Test {
protected:
    void SetUp() override {
        write_text(header(), "#pragma once\ninline int seven() { return 7; }\n");
        write_text(step(), "#pragma once\n");
        write_text(wide(), "#pragma once\n");
        options_.include_directory = header().parent_path().parent_path().parent_path();
        options_.cache_directory = folder_.path() / "a cache's $(folder); \"x\"";
        unsetenv("TESSERA_TEST_CODE");  // the compiler itself, which remembers nothing
        const char* search_path = std::getenv("PATH");
        options_.search_path = search_path == nullptr ? "" : search_path;
    }

    fs::path header() const { return folder_.path() / "include/tessera/ntt/ntt.h"; }
    fs::path step() const { return folder_.path() / "include/tessera/step.h"; }
    fs::path wide() const { return folder_.path() / "include/tessera/wide.h"; }
    std::set<std::string> cache_entries() const {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(options_.cache_directory))
            names.insert(entry.path().extension());
        return names;
    }
    std::string error_of(const Code& code) const {
        try {
            compile_shared_object(code, options_);
        } catch (const Error& error) {
            return error.what();
        }
        return "compiled";
    }

    TemporaryFolder folder_;
    ToolchainOptions options_;
};

TEST_F(Toolchain, CompilesWhatCanBeCalled) {
    const SharedObject object = compile_shared_object(
        {"#include <tessera/ntt/ntt.h>\nextern \"C\" int answer() { return 6 * seven(); }\n"}, options_);
    const Loaded loaded(object, folder_.path() / "answer.so");
    EXPECT_EQ(loaded.function<int (*)()>("answer")(), 42);
}

TEST_F(Toolchain, UnitsAreLinkedToOneObject) {
    const Code code{
        "#include <tessera/ntt/ntt.h>\n[[gnu::visibility(\"hidden\")]] int six();\n"
        "#if TESSERA_UNIT == 0\nextern \"C\" int answer() { return six() * seven(); }\n#endif\n"
        "#if TESSERA_UNIT == 2\nint six() { return 6; }\n#endif\n",
        3};
    const SharedObject object = compile_shared_object(code, options_);
    const Loaded loaded(object, folder_.path() / "answer.so");
    EXPECT_EQ(loaded.function<int (*)()>("answer")(), 42);
    options_.cache_directory = folder_.path() / "other";
    EXPECT_EQ(compile_shared_object(code, options_).bytes, object.bytes);
}

/// A name that is a word of C++ alone.
TEST_F(Toolchain, CompilesC) {
    for (const bool is_divided : {false, true}) {
        const Code code{.text = "#include <math.h>\nint answer(int new) { return (int)sqrt(new); }\n",
                        .units = 1,
                        .language = Language::kC};
        Code units = code;
        units.text = "#if TESSERA_UNIT == 1\n" + code.text + "#endif\nextern int unused;\n";
        units.units = 2;
        const SharedObject object = compile_shared_object(is_divided ? units : code, options_);
        const Loaded loaded(object, folder_.path() / (is_divided ? "units.so" : "whole.so"));
        EXPECT_EQ(loaded.function<int (*)(int)>("answer")(1764), 42);
    }
    EXPECT_THAT(error_of({.text = "class answer {};\n", .language = Language::kC}), HasSubstr(".failed.c"));
}

TEST_F(Toolchain, AFullDiskIsNoFaultOfTheCode) {
    EXPECT_THAT(error_of({"#error No space left on device\n"}), HasSubstr("has no room for what it writes"));
    EXPECT_TRUE(cache_entries().empty());
}

TEST_F(Toolchain, AUnitThatFailsIsReported) {
    const Code code{"#if TESSERA_UNIT == 1\n#error in the second\n#endif\n", 3};
    EXPECT_THAT(error_of(code), HasSubstr("in the second"));
}

TEST_F(Toolchain, WhatWaitsMayEndAllCompilers) {
    options_.while_waiting = [] { throw Error("", "", "enough"); };
    std::string slow = "#include <regex>\n";
    for (int i = 0; i < 40; ++i) slow += fmt::format("std::regex r{}(\"a{}\");\n", i, i);
    EXPECT_EQ(error_of({slow, 4}), "enough");
    EXPECT_EQ(cache_entries(), std::set<std::string>{});
}

TEST_F(Toolchain, SecondTimeComesFromTheCache) {
    const SharedObject first = compile_shared_object({kAnswer}, options_);
    EXPECT_FALSE(first.was_cached);
    EXPECT_GT(first.cpu_seconds, 0);
    const SharedObject second = compile_shared_object({kAnswer}, options_);
    EXPECT_TRUE(second.was_cached);
    EXPECT_EQ(second.cpu_seconds, 0);
    EXPECT_EQ(second.bytes, first.bytes);
    EXPECT_EQ(cache_entries(), std::set<std::string>{".so"});
}

TEST_F(Toolchain, EqualInputGivesEqualBytesInAnotherCache) {
    const SharedObject first = compile_shared_object({kAnswer}, options_);
    options_.cache_directory = folder_.path() / "other";
    const SharedObject second = compile_shared_object({kAnswer}, options_);
    EXPECT_FALSE(second.was_cached);
    EXPECT_EQ(second.bytes, first.bytes);
}

TEST_F(Toolchain, TextHeaderFlagsAndCompilerAreAllInTheKey) {
    std::set<std::string> digests;
    const auto is_cached = [&](const std::string& code) {
        digests.insert(toolchain_digest(options_));
        return compile_shared_object({code}, options_).was_cached;
    };
    EXPECT_FALSE(is_cached(kAnswer));
    EXPECT_FALSE(is_cached(kAnswer + std::string("\n")));
    options_.compiler.flags = {"-mtune=generic"};
    EXPECT_FALSE(is_cached(kAnswer));
    write_text(header(), "#pragma once\ninline int seven() { return 8; }\n");
    EXPECT_FALSE(is_cached(kAnswer));
    write_text(header().parent_path() / "more/deep.h", "");
    EXPECT_FALSE(is_cached(kAnswer));
    fs::create_symlink("/usr/bin/g++", folder_.path() / "my-c++");
    options_.compiler.command = folder_.path() / "my-c++";
    EXPECT_FALSE(is_cached(kAnswer));
    write_text(step(), "#pragma once\nstruct TesseraStep;\n");
    EXPECT_FALSE(is_cached(kAnswer));
    write_text(wide(), "#pragma once\nstruct Wide;\n");
    EXPECT_FALSE(is_cached(kAnswer));
    EXPECT_TRUE(is_cached(kAnswer));
    EXPECT_EQ(digests.size(), 5);  // all but the text, step.h and wide.h: nothing measured depends on them
}

// With contraction the product would not be rounded, and the difference would be the error of that rounding.
TEST_F(Toolchain, ProductsAreRoundedBeforeTheyAreAdded) {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "nothing to contract to";
    options_.compiler.flags = {"-mfma"};
#endif
    const SharedObject object =
        compile_shared_object({"extern \"C\" float f(float a, float c) { return a * a - c; }"}, options_);
    const float a = 1.0F + 0x1p-20F;
    const float square = a * a;
    const Loaded loaded(object, folder_.path() / "f.so");
    EXPECT_EQ(loaded.function<float (*)(float, float)>("f")(a, square), 0.0F);
}

TEST_F(Toolchain, CompileErrorShowsTheComplaintAndKeepsTheSource) {
    const std::string code = "int broken( {\n";
    const std::string message = error_of({code});
    EXPECT_THAT(message, HasSubstr("cannot compile the generated code, exit code 1:"));
    EXPECT_THAT(message, HasSubstr("error: "));
    const fs::path kept = message.substr(0, message.find(".cpp: ") + 4);
    std::ifstream file(kept);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), code);
    EXPECT_EQ(cache_entries(), std::set<std::string>{".cpp"});
}

TEST_F(Toolchain, ManyComplaintsAreCut) {
    std::string code;
    for (int i = 0; i < 100; ++i) code += "unknown" + std::to_string(i) + " x;\n";
    const std::string message = error_of({code});
    EXPECT_LT(std::count(message.begin(), message.end(), '\n'), 20);
    EXPECT_TRUE(message.ends_with("...")) << message;
}

TEST_F(Toolchain, EveryCompilerTakesItsFlags) {
    for (const char* compiler : {"g++", "clang++"}) {
        if (!find_program(compiler, options_.search_path)) continue;
        options_.compiler.command = compiler;
        const Loaded loaded(compile_shared_object({kAnswer}, options_), folder_.path() / compiler);
        EXPECT_EQ(loaded.function<int (*)()>("answer")(), 42) << compiler;
    }
}

TEST_F(Toolchain, MissingCompilerNamesThePackage) {
    options_.search_path = "/nowhere";
    EXPECT_EQ(error_of({kAnswer}),
              "there is no C++ compiler: none of c++, g++, clang++ is in PATH (install the Debian package "
              "g++; artefacts "
              "that exist run without it)");
    options_.compiler.command = "icpx";
    EXPECT_THAT(error_of({kAnswer}),
                HasSubstr("`icpx`: the C++ compiler that the machine file names is not there"));
}

TEST_F(Toolchain, AnotherInstructionSetNeedsACrossCompiler) {
    const bool is_arm = machine::kHostIsa != machine::Isa::kAArch64;
    options_.isa = is_arm ? machine::Isa::kAArch64 : machine::Isa::kX86_64;
    const std::string name = is_arm ? "aarch64-linux-gnu-g++" : "x86_64-linux-gnu-g++";
    write_text(folder_.path() / "bin/c++", "");  // of the host: does not count
    options_.search_path = (folder_.path() / "bin").string();
    EXPECT_EQ(
        error_of({kAnswer}),
        fmt::format("there is no C++ compiler for {}: {} is not in PATH (install the Debian package {})",
                    tessera::machine::name(options_.isa), name,
                    is_arm ? "g++-aarch64-linux-gnu" : "g++-x86-64-linux-gnu"));
    fs::create_symlink("/usr/bin/g++", folder_.path() / "bin" / name);
    EXPECT_EQ(error_of({kAnswer}), "compiled");
}

TEST_F(Toolchain, ProgramThatIsNoCompilerIsRefused) {
    options_.compiler.command = "/bin/false";
    EXPECT_THAT(error_of({kAnswer}), HasSubstr("/bin/false: is no C++ compiler"));
}

TEST_F(Toolchain, MissingHeadersAreNamed) {
    fs::remove_all(options_.include_directory);
    EXPECT_THAT(error_of({kAnswer}), HasSubstr("tessera/ntt: holds no headers of NTT"));
}

TEST_F(Toolchain, CompilesOfOneTextDoNotDisturbEachOther) {
    std::atomic<int> good = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            good += compile_shared_object({kAnswer}, options_)
                        .bytes.starts_with(
                            "\x7f"
                            "ELF");
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(good, 4);
    EXPECT_EQ(cache_entries(), std::set<std::string>{".so"});
}

}  // namespace
}  // namespace tessera::backend
