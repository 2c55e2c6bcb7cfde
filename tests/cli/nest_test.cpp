// `tessera nest`, `tessera price` and `tessera schedule` as a user runs them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

constexpr const char* kChain = R"(op c(m: 32, n: 48, k*: 16)
in  A f16[m, k], B f16[k, n]
out C f16[m, n] = sum(f32(A) * f32(B))
op e(m: 32, h: 24, n*: 48)
in  C f16[m, n], D f16[n, h]
out E f16[m, h] = sum(f32(C) * f32(D))
)";
constexpr const char* kMachine = "machine bandwidth 1e10 peak 1e11 units 2\n";

class NestVerbs : public ::testing::Test {
protected:
    ProcessResult run(const std::string& verb, const std::string& file, const std::string& text,
                      const std::vector<std::string>& more = {}) const {
        std::ofstream(folder_.path() / file) << text;
        std::vector<std::string> arguments = {verb, (folder_.path() / file).string()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_process({.program = TESSERA_PROGRAM, .arguments = std::move(arguments)});
    }

    std::string stated(const std::vector<std::string>& nests) const {
        const std::string file = (folder_.path() / "stated.toml").string();
        std::ofstream out(file);
        for (const std::string& nest : nests) out << "[[kernel]]\nnest = \"" << nest << "\"\n";
        return file;
    }

    static std::string nest(const std::string& text) {
        return kChain + std::string(kMachine) + "nest\n" + text;
    }

private:
    TemporaryFolder folder_;
};

TEST_F(NestVerbs, PrintTablesForPeople) {
    const ProcessResult result =
        run("nest", "t.nest", nest("m:16@unit h:12@unit { n:16 { load B; k:8 { c } e } }"));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.errors, IsEmpty());
    EXPECT_THAT(result.output, HasSubstr("operator  executions  points  recompute  flops  special\n"
                                         "c                 24   49152          2  98304        0\n"));
    EXPECT_THAT(result.output, HasSubstr("\nB        read     12 (6144 B)"));
    EXPECT_THAT(result.output, HasSubstr("512 B  e.m, e.n\n"));
    EXPECT_THAT(result.output,
                HasSubstr("units      4\nfootprint  2048 B\nbytes      18432\nflops      172032\n"
                          "model      "));
}

TEST_F(NestVerbs, PrintFactsAsJson) {
    const ProcessResult result = run("nest", "t.nest", nest("m:16@unit { n:16 { c e } }"), {"--json"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.errors, IsEmpty());
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["units"], 2);
    EXPECT_EQ(json["operators"]["c"]["executions"], 6);
    EXPECT_EQ(json["buffers"]["C"]["role"], "kept");
    EXPECT_EQ(json["buffers"]["E"]["store_bytes"], 32 * 24 * 2);
    EXPECT_EQ(json["alpha"], 2.0);
}

TEST_F(NestVerbs, FailForIllegalNestsAndSayWhy) {
    const ProcessResult result = run("nest", "t.nest", nest("{ e c }"), {"--json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(Json::parse(result.output),
              Json({{"illegal", "form"}, {"reason", "e stands before C is made"}}));
    EXPECT_THAT(result.errors, HasSubstr("t.nest: the nest is illegal (form): e stands before C is made"));
    const ProcessResult plain = run("nest", "t.nest", nest("{ e c }"));
    EXPECT_EQ(plain.exit_code, 1);
    EXPECT_THAT(plain.output, IsEmpty());
    EXPECT_THAT(plain.errors, HasSubstr("e stands before C is made"));
}

TEST_F(NestVerbs, FailForFilesThatHoldNoNest) {
    const ProcessResult none = run("nest", "t.nest", kChain, {"--json"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.output, IsEmpty());
    EXPECT_THAT(none.errors, HasSubstr("t.nest: holds no nest"));
    const ProcessResult space = run("nest", "t.nest", kChain + std::string("multiple 4\nnest\n{ c e }"));
    EXPECT_EQ(space.exit_code, 1);
    EXPECT_THAT(space.errors, HasSubstr("describe a space"));
    EXPECT_THAT(run("nest", "t.nest", "op c(m: 4)\nin A\n").errors, HasSubstr("t.nest:2: "));
    EXPECT_EQ(run("nest", "t.nest", nest("{ c e }"), {"--jsn"}).exit_code, 2);
}

TEST_F(NestVerbs, StopWalksThatAreTooLong) {
    const ProcessResult result =
        run("nest", "t.nest", "op c(m: 1000000000)\nin A f32[m]\nout C f32[m] = A\nnest\nm:1 { c }\n");
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("takes more than 16777216 steps to walk through"));
}

TEST_F(NestVerbs, ScheduleAChain) {
    const std::string space = kChain + std::string("multiple 8\ncapacity 4000\n") + kMachine;
    const ProcessResult result = run("schedule", "t.space", space, {"--json"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.errors, IsEmpty());
    const Json json = Json::parse(result.output);
    EXPECT_EQ(json["structures"], 24);
    EXPECT_EQ(json["tiles"], 4 * 6 * 3 * 2);
    EXPECT_EQ(json["estimate"], json["best"]);
    // The verb for nests gives the same estimate.
    const ProcessResult walked = run("nest", "t.nest", nest(json["nest"].get<std::string>()), {"--json"});
    EXPECT_EQ(Json::parse(walked.output)["estimate"], json["estimate"]);
    EXPECT_LE(Json::parse(walked.output)["footprint"], 4000);
    EXPECT_THAT(run("schedule", "t.space", space).output,
                HasSubstr("space      24 structures x 144 tile sizes = 3456 candidates, "));
}

TEST_F(NestVerbs, ScheduleWhereNothingFits) {
    const std::string space = kChain + std::string("multiple 8\ncapacity 10\n") + kMachine;
    const ProcessResult result = run("schedule", "t.space", space, {"--json"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(Json::parse(result.output)["nest"], nullptr);
    EXPECT_EQ(Json::parse(result.output)["best_deep"], nullptr);
    EXPECT_THAT(run("schedule", "t.space", space).output, HasSubstr("best       none fits\n"));
}

TEST_F(NestVerbs, ScheduleSpacesAlone) {
    const ProcessResult nest_file = run("schedule", "t.nest", nest("{ c e }"));
    EXPECT_EQ(nest_file.exit_code, 1);
    EXPECT_THAT(nest_file.errors, HasSubstr("t.nest: is named neither `.space` nor `.tiers`"));
    const ProcessResult with_nest = run("schedule", "t.space", nest("{ c e }"));
    EXPECT_EQ(with_nest.exit_code, 1);
    EXPECT_THAT(with_nest.errors, HasSubstr("`nest`: has no place in a space"));
    EXPECT_EQ(run("schedule", "t.space", kChain).exit_code, 1);
}

constexpr const char* kLevels = "level memory\nlevel L1 capacity 9000 bandwidth 1e9\npeak 1e10\n";

TEST_F(NestVerbs, PriceANestOnLevels) {
    const std::string file = kChain + std::string(kLevels) + "nest\nm:16 { n:16 { load B @L1; c } e }\n";
    const ProcessResult shown = run("price", "t.tier", file);
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_THAT(shown.errors, IsEmpty());
    EXPECT_THAT(shown.output, HasSubstr("B@L1        read     memory  "));
    const Json json = Json::parse(run("price", "t.tier", file, {"--json"}).output);
    EXPECT_EQ(json["buffers"]["B@L1"]["loads"], 6);
    EXPECT_EQ(json["levels"]["L1"]["out"], 32 * 24 * 2);
    EXPECT_EQ(json["feasible"], true);
    const ProcessResult illegal =
        run("price", "t.tier", kChain + std::string(kLevels) + "nest\n{ c load A @L1 e }");
    EXPECT_EQ(illegal.exit_code, 1);
    EXPECT_THAT(illegal.errors, HasSubstr("the nest is illegal (form): load A has to stand before c"));
    const ProcessResult misnamed = run("price", "t.nest", file);
    EXPECT_EQ(misnamed.exit_code, 1);
    EXPECT_THAT(misnamed.errors, HasSubstr("t.nest: has memory levels (name it `.tier`"));
    EXPECT_THAT(run("price", "t.tier", nest("{ c e }")).errors, HasSubstr("t.tier: has no memory levels"));
    EXPECT_EQ(run("price", "t.tier", file, {"--machine", "m.toml"}).exit_code, 2);
}

TEST_F(NestVerbs, PriceByPublishedModels) {
    const std::string file = nest("m:16@unit { n:16 { c e } }");
    const Json facts = Json::parse(run("nest", "t.nest", file, {"--json"}).output);
    Json priced = Json::parse(run("price", "t.nest", file, {"--json", "--cost", "mcfuser"}).output);
    EXPECT_EQ(priced["cost"]["seconds"], facts["estimate"]);
    EXPECT_EQ(priced["cost"]["alpha"], facts["alpha"]);
    priced.erase("cost");
    EXPECT_EQ(priced, facts);
    const auto of = [&](const std::string& model) {
        return Json::parse(run("price", "t.nest", file, {"--json", "--cost", model}).output)["cost"];
    };
    EXPECT_EQ(of("nncase")["seconds"], std::max(facts["t_mem"].get<double>(), facts["t_comp"].get<double>()));
    // A, B and D are read and E is written once.
    const double bytes = 2.0 * (32 * 16 + 16 * 48 + 48 * 24 + 32 * 24);
    EXPECT_DOUBLE_EQ(of("roofline")["memory"].get<double>(), bytes / 1e10);
    EXPECT_THAT(run("price", "t.nest", file, {"--cost", "roofline"}).output, HasSubstr("\nroofline "));
    EXPECT_EQ(run("price", "t.nest", file, {"--cost", "guess"}).exit_code, 2);
    const ProcessResult without =
        run("price", "t.nest", kChain + std::string("nest\n{ c e }"), {"--cost", "nncase"});
    EXPECT_EQ(without.exit_code, 1);
    EXPECT_THAT(without.errors, HasSubstr("t.nest: `machine`: is missing"));
}

TEST_F(NestVerbs, PriceStatedNestsOfASpace) {
    const std::string space = kChain + std::string("multiple 8\ncapacity 4000\n") + kMachine;
    EXPECT_EQ(run("price", "t.space", space).exit_code, 2);
    const Json best = Json::parse(run("schedule", "t.space", space, {"--json"}).output);
    const std::string file = stated({best["nest"].get<std::string>(), "{ e c }"});
    const ProcessResult result =
        run("price", "t.space", space, {"--kernels", file, "--cost", "mcfuser", "--json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.errors, HasSubstr("1 of 2 nests are illegal"));
    const Json nests = Json::parse(result.output)["nests"];
    EXPECT_EQ(nests[0]["cost"]["seconds"], best["estimate"]);
    EXPECT_EQ(nests[1]["illegal"], "form");
    EXPECT_THAT(run("price", "t.space", space, {"--kernels", file}).output,
                HasSubstr("{ e c }\nillegal (form): e stands before C is made\n"));
    EXPECT_EQ(run("price", "t.space", space, {"--kernels", stated({"{ c e }"})}).exit_code, 0);
}

TEST_F(NestVerbs, ScheduleOnLevels) {
    const std::string levels = kChain + std::string(kLevels);
    const std::string open = levels + "cost overlap\nsizes multiple 16\nnest\nm:? { n:? { c } e }\n";
    const Json json = Json::parse(run("schedule", "t.tiers", open, {"--json"}).output);
    EXPECT_EQ(json["status"], "optimal");
    EXPECT_EQ(json["candidates"], 2 * 3);
    const std::string closed = levels + "nest\n" + json["nest"].get<std::string>();
    EXPECT_EQ(Json::parse(run("price", "t.tier", closed, {"--json"}).output)["overlap"], json["cost"]);
    const ProcessResult ended = run("schedule", "t.tiers", open, {"--candidates", "2"});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.output, HasSubstr("status  out of budget: no nest costs less than "));
    EXPECT_THAT(ended.errors, HasSubstr("2 candidates were walked, and there are more"));
    EXPECT_EQ(run("schedule", "t.tiers", open, {"--space"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera
