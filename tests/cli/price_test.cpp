// `tessera price` as a user runs it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/round_machine.h"
#include "machine/machine_text.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

constexpr const char* kGraphOfChain = R"(graph "chain"
point whole weight 1:
input A: f32[256, 64]
input B: f32[64, 256]
input D: f32[256, 64]
value C: f32[256, 256]
value E: f32[256, 64]

block main
  node c(A, B) -> C
    op matmul(m: 256, n: 256, k*: 64)
    in A f32[m, k]
    in B f32[k, n]
    out C f32[m, n] = sum(A * B)
  node e(C, D) -> E
    op matmul2(m: 256, h: 64, n*: 256)
    in C f32[m, n]
    in D f32[n, h]
    out E f32[m, h] = sum(C * D)

output E
)";

std::string kernels_file(const std::vector<std::string>& nests) {
    std::string text;
    for (const std::string& nest : nests) text += "[[kernel]]\nnest = \"" + nest + "\"\n";
    return text;
}

class PriceVerb : public ::testing::Test {
protected:
    PriceVerb() {
        write("chain.ir", kGraphOfChain);
        write("round.toml", machine::print_machine(testing::round_machine()));
    }
    void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
    ProcessResult tessera(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"XDG_CACHE_HOME=" + path("cache"), TESSERA_PROGRAM});
        return run_process({.program = "/usr/bin/env", .arguments = std::move(arguments)});
    }
    ProcessResult price(const std::vector<std::string>& more, const std::string& file = "chain.ir") const {
        std::vector<std::string> arguments = {"price", path(file)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return tessera(std::move(arguments));
    }
    /// Prices these nests of the chain.
    ProcessResult price_nests(const std::vector<std::string>& nests, std::vector<std::string> more = {},
                              const std::string& file = "chain.ir") const {
        write("kernels.toml", kernels_file(nests));
        more.insert(more.end(), {"--kernels", path("kernels.toml"), "--machine", path("round.toml")});
        return price(more, file);
    }
    /// The account of the search around the kernels that were priced last.
    std::string account_of_compile(std::vector<std::string> more,
                                   const std::string& file = "chain.ir") const {
        more.insert(more.begin(),
                    {"compile", path(file), "-o", path("chain.tsr"), "-q", "--machine", path("round.toml"),
                     "--kernels", path("kernels.toml"), "--search-effort", "0", "--dump", path("passes")});
        const ProcessResult compiled = tessera(std::move(more));
        EXPECT_EQ(compiled.exit_code, 0) << compiled.errors;
        std::string account;
        for (const auto& entry : std::filesystem::directory_iterator(path("passes")))
            if (entry.path().filename().string().ends_with("-plan.txt")) {
                std::ifstream in(entry.path());
                account.assign(std::istreambuf_iterator<char>(in), {});
            }
        return account;
    }

private:
    TemporaryFolder folder_;
};

TEST_F(PriceVerb, NeedsNoCompilerForTheNestsOfAGraph) {
    const ProcessResult result =
        price_nests({"m:16 { c; e }", "m:16 n:64 { c; e }"}, {"--json", "--workers", "1"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.errors, IsEmpty());
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["machine"], "round");
    EXPECT_EQ(json["workers"], 1);
    ASSERT_EQ(json["nests"].size(), 2U);
    for (const Json& nest : json["nests"]) {
        EXPECT_GT(nest["seconds"], 0);
        EXPECT_LE(nest["compute"], nest["seconds"]);
        EXPECT_EQ(nest["barrier"], 0);
        EXPECT_EQ(nest["specialisation"], "prefill");
    }
    EXPECT_EQ(json["nests"][0]["stated"], "m:16 { c; e }");
    EXPECT_EQ(json["nests"][0]["buffers"]["C"]["bytes"], 16 * 256 * 4);
    EXPECT_EQ(json["nests"][1]["buffers"]["C"]["bytes"], 16 * 64 * 4);
    const std::string level = json["nests"][1]["buffers"]["C"]["level"];
    EXPECT_EQ(json["nests"][1]["levels"][level]["held"], 16 * 64 * 4);
}

TEST_F(PriceVerb, SaysWhatCompileCounts) {
    for (const char* workers : {"1", "2"}) {
        const ProcessResult priced = price_nests({"m:16 n:64 { c; e }"}, {"--json", "--workers", workers});
        ASSERT_EQ(priced.exit_code, 0) << priced.errors;
        const Json nest = Json::parse(priced.output)["nests"][0];
        EXPECT_THAT(account_of_compile({"--workers", workers}),
                    HasSubstr(fmt::format("prefill, main: {:.5g} us,", nest["seconds"].get<double>() * 1e6)));
    }
}

TEST_F(PriceVerb, SaysWhatCompileCountsByAPublishedModel) {
    using Case = std::pair<std::string, std::string>;
    for (const auto& [model, workers] :
         {Case{"nncase", "1"}, Case{"nncase", "2"}, Case{"mcfuser", "2"}, Case{"roofline", "2"}}) {
        const ProcessResult priced =
            price_nests({"m:16 n:64 { c; e }"}, {"--json", "--workers", workers, "--cost", model});
        ASSERT_EQ(priced.exit_code, 0) << priced.errors;
        const Json cost = Json::parse(priced.output)["nests"][0]["cost"];
        EXPECT_THAT(account_of_compile({"--workers", workers, "--cost", model}),
                    HasSubstr(fmt::format("prefill, main: {:.5g} us,", cost["seconds"].get<double>() * 1e6)))
            << model << " " << workers;
    }
}

/// An operator that updates a state at indices, and one that reads a value twice.
TEST_F(PriceVerb, SaysWhatCompileCountsOfOperatorsThatChainsOfProductsDoNotHave) {
    write("cached.ir", R"(graph "cached"
point whole weight 1:
input slot: i32[64]
input X: f32[64, 256]
state cache: f32[128, 256]
value stored: f32[128, 256]
value Y: f32[64]

block main
  update cache -> stored
  node store(slot, X) over cache -> stored
    op store(t: 64, n: 256)
    index slot i32[t]
    in X f32[t, n]
    update C f32[slot[t], n] of [128, 256] = X
  node norm(X, X) -> Y
    op squares(t: 64, n*: 256)
    in A f32[t, n]
    in B f32[t, n]
    out Y f32[t] = sum(A * B)

output Y
)");
    for (const std::string model : {"nncase", "mcfuser", "roofline"}) {
        const ProcessResult priced = price_nests({"t:16 { store }", "norm"},
                                                 {"--json", "--workers", "1", "--cost", model}, "cached.ir");
        ASSERT_EQ(priced.exit_code, 0) << priced.errors;
        const Json nests = Json::parse(priced.output)["nests"];
        double seconds = 0;
        for (const Json& nest : nests) seconds += nest["cost"]["seconds"].get<double>();
        EXPECT_GT(seconds, 0);
        EXPECT_THAT(account_of_compile({"--workers", "1", "--cost", model}, "cached.ir"),
                    HasSubstr(fmt::format("prefill, main: {:.5g} us,", seconds * 1e6)))
            << model;
    }
}

TEST_F(PriceVerb, CompileNamesThePublishedModelAndNeedsItsRates) {
    const std::vector<std::string> compile = {
        "compile",          path("chain.ir"),  "-o", path("chain.tsr"), "--machine",
        path("round.toml"), "--search-effort", "0",  "--cost"};
    const auto by = [&](std::vector<std::string> more) {
        more.insert(more.begin(), compile.begin(), compile.end());
        return tessera(more);
    };
    EXPECT_THAT(by({"mcfuser"}).errors, HasSubstr("priced by mcfuser"));
    EXPECT_EQ(by({"mcfusion"}).exit_code, 2);
    EXPECT_EQ(by({"mcfuser", "--plan", path("chain.ir")}).exit_code, 2);
    machine::Machine machine = testing::round_machine();
    for (machine::ComputeUnit& unit : machine.units) unit.peaks.clear();
    write("round.toml", machine::print_machine(machine));
    const ProcessResult without_peaks = by({"roofline"});
    EXPECT_EQ(without_peaks.exit_code, 1);
    EXPECT_THAT(without_peaks.errors, HasSubstr("`peaks`: are missing of all units"));
    const ProcessResult unpriced = price_nests({"c"}, {"--cost", "roofline"});
    EXPECT_EQ(unpriced.exit_code, 1);
    EXPECT_THAT(unpriced.errors, HasSubstr("`peaks`: are missing of all units"));
    const ProcessResult without_times = by({"nncase"});
    EXPECT_EQ(without_times.exit_code, 1);
    EXPECT_THAT(without_times.errors, HasSubstr("`e`: has no price"));
}

/// The graph has no constants and one kernel, so that a step finds its tensors where the kernel alone does.
TEST_F(PriceVerb, SaysWhatInspectPredicts) {
    const ProcessResult priced = price_nests({"m:16 n:64 { c; e }"}, {"--json", "--workers", "1"});
    ASSERT_EQ(priced.exit_code, 0) << priced.errors;
    const Json nest = Json::parse(priced.output)["nests"][0];
    ASSERT_EQ(
        tessera({"compile", path("chain.ir"), "-o", path("chain.tsr"), "-q", "--machine", path("round.toml"),
                 "--workers", "1", "--kernels", path("kernels.toml"), "--search-effort", "0"})
            .exit_code,
        0);
    const std::string costs =
        tessera({"inspect", path("chain.tsr"), "--plan", "--costs", "--machine", path("round.toml")}).output;
    const double seconds = nest["seconds"].get<double>() * 1e6, compute = nest["compute"].get<double>() * 1e6;
    const auto shown = [](double us) { return fmt::format("{:.{}f}", us, us < 1 ? 3 : us < 100 ? 2 : 1); };
    EXPECT_THAT(costs, HasSubstr(shown(seconds) + " us at whole (compute " + shown(compute)));
    for (const auto& [level, part] : nest["levels"].items())
        if (part["seconds"] > 0) {
            EXPECT_THAT(costs, HasSubstr(level + " " + shown(part["seconds"].get<double>() * 1e6)));
        }
}

TEST_F(PriceVerb, JudgesEveryNestByItself) {
    const ProcessResult result =
        price_nests({"m:16 { c; e }", "k:16 { c; e }", "m:16 { c;", "m:16 { c; nobody }", "c",
                     "m:16 { load B as lanes <1:8>; c; e }"},
                    {"--json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("chain.ir: 3 of 6 nests are illegal"));
    const Json nests = Json::parse(result.output)["nests"];
    ASSERT_EQ(nests.size(), 6U);
    EXPECT_THAT(nests[1]["reason"].get<std::string>(), HasSubstr("is no iterator of e"));
    EXPECT_EQ(nests[2]["illegal"], "form");
    EXPECT_EQ(nests[3]["reason"].get<std::string>().substr(0, 31), "`nobody`: is no operator of thi");
    for (const size_t legal : {0, 4, 5}) EXPECT_TRUE(nests[legal].contains("seconds")) << nests[legal];
    EXPECT_EQ(nests[5]["buffers"].size(), 2U) << nests[5];
    const std::string words = price_nests({"m:16 { c; e }", "k:16 { c; e }"}).output;
    EXPECT_THAT(words, HasSubstr("  held     C in "));
    EXPECT_THAT(words, HasSubstr("  illegal  (form) `k`: is no iterator of e"));
}

/// The models count on the nest as on one of a .nest file, so that prices of two nests have the ratio of
/// theirs.
TEST_F(PriceVerb, PricesByPublishedModels) {
    const std::vector<std::string> stated = {"m:16 { c; e }", "m:32 n:64 { c; e }"};
    const auto costs = [&](const std::string& model) {
        const ProcessResult result = price_nests(stated, {"--json", "--workers", "1", "--cost", model});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return Json::parse(result.output)["nests"];
    };
    const std::string operators =
        "op c(m: 256, n: 256, k*: 64)\nin A f32[m, k], B f32[k, n]\nout C f32[m, n] = sum(A * B)\n"
        "op e(m: 256, h: 64, n*: 256)\nin C f32[m, n], D f32[n, h]\nout E f32[m, h] = sum(C * D)\n"
        "machine bandwidth 1e9 peak 1e10 units 1\nnest\n";
    std::vector<Json> facts;
    for (const char* nest : {"m:16@unit { c e }", "m:32@unit n:64 { c e }"}) {
        write("chain.nest", operators + nest + "\n");
        facts.push_back(Json::parse(price({"--json", "--cost", "mcfuser"}, "chain.nest").output));
    }
    const Json mcfuser = costs("mcfuser");
    for (const char* part : {"memory", "compute"})
        EXPECT_NEAR(mcfuser[0]["cost"][part].get<double>() / mcfuser[1]["cost"][part].get<double>(),
                    facts[0]["cost"][part].get<double>() / facts[1]["cost"][part].get<double>(), 1e-9);
    for (const size_t i : {0, 1})
        EXPECT_DOUBLE_EQ(mcfuser[i]["cost"]["alpha"].get<double>(), facts[i]["cost"]["alpha"].get<double>());
    EXPECT_EQ(costs("roofline")[0]["cost"]["seconds"], costs("roofline")[1]["cost"]["seconds"]);
    for (const Json& nest : costs("nncase")) {
        double memory = 0;
        for (const Json& level : nest["levels"]) memory += level["seconds"].get<double>();
        EXPECT_DOUBLE_EQ(nest["cost"]["seconds"].get<double>(),
                         std::max(memory, nest["compute"].get<double>()));
    }
    EXPECT_EQ(price_nests(stated, {"--cost", "guess"}).exit_code, 2);
}

TEST_F(PriceVerb, PricesTheNestsOfSeveralFiles) {
    write("a.toml", kernels_file({"m:16 { c; e }"}));
    write("b.toml", kernels_file({"m:32 { c; e }", "c"}));
    const ProcessResult result = price({"--kernels", path("a.toml"), "--kernels", path("b.toml"), "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    const Json nests = Json::parse(result.output)["nests"];
    ASSERT_EQ(nests.size(), 3U);
    EXPECT_EQ(nests[0]["where"], path("a.toml") + ":1");
    EXPECT_EQ(nests[2]["where"], path("b.toml") + ":3");
}

TEST_F(PriceVerb, RefusesWrongUsageAndFilesThatAreNone) {
    const ProcessResult without = price({});
    EXPECT_EQ(without.exit_code, 2);
    EXPECT_THAT(without.errors, HasSubstr("--kernels"));
    write("broken.toml", "[[kernel]\n");
    EXPECT_EQ(price({"--kernels", path("broken.toml")}).exit_code, 1);
    EXPECT_THAT(price({"--kernels", path("broken.toml")}).errors, HasSubstr("broken.toml:1"));
    write("other.toml", "[[kernel]]\nnests = \"c\"\n");
    EXPECT_EQ(price({"--kernels", path("other.toml")}).exit_code, 1);
    EXPECT_EQ(price({"--kernels", path("none.toml")}).exit_code, 1);
    EXPECT_EQ(price({"--kernels", path("round.toml"), "--workers", "0"}).exit_code, 2);
    write("chain.txt", kGraphOfChain);
    const ProcessResult other = price({}, "chain.txt");
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.errors, HasSubstr("chain.txt"));
    write("broken.ir", "graph \"x\"\nblock main\n  node\n");
    EXPECT_EQ(price({"--kernels", path("round.toml")}, "broken.ir").exit_code, 1);
}

}  // namespace
}  // namespace tessera
