// Searches with parts left out, as a user compiles with them: the answers stay, and no artefact hides it.
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "cli/round_machine.h"
#include "cli/toy_bench.h"
#include "import/npy/npy_file.h"
#include "machine/machine_text.h"

namespace tessera {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Two products, and a map between them.
constexpr const char* kGraphToAblate = R"(graph "ablated"
point whole weight 1:
input A: f32[96, 32]
input B: f32[32, 128]
input D: f32[128, 16]
value C: f32[96, 128]
value F: f32[96, 128]
value E: f32[96, 16]

block main
  node c(A, B) -> C
    op matmul(m: 96, n: 128, k*: 32)
    in A f32[m, k]
    in B f32[k, n]
    out C f32[m, n] = sum(A * B)
  node f(C) -> F
    op map(m: 96, n: 128)
    in C f32[m, n]
    out F f32[m, n] = max(C, 0)
  node e(F, D) -> E
    op matmul2(m: 96, h: 16, n*: 128)
    in F f32[m, n]
    in D f32[n, h]
    out E f32[m, h] = sum(F * D)

output E
)";

class Ablations : public ToyBench {
protected:
    Ablations() {
        write("ablated.ir", kGraphToAblate);
        write("round.toml", machine::print_machine(testing::round_machine()));
    }
    ProcessResult compile(const std::string& out, const std::vector<std::string>& more) const {
        std::vector<std::string> words = {"compile",         "ablated.ir", "-o",        out,
                                          "--machine",       "round.toml", "--workers", "1",
                                          "--search-effort", "1"};
        words.insert(words.end(), more.begin(), more.end());
        return tessera(words);
    }
    std::string inspected(std::vector<std::string> words) const {
        words.insert(words.begin(), "inspect");
        const ProcessResult result = tessera(words);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.output;
    }
};

TEST_F(Ablations, SayWhatTheyLeaveOutAndComputeTheSame) {
    std::vector<std::string> arguments = {"run", "", "--out", ""};
    for (const auto& [name, rows, columns] :
         {std::tuple("A", 96, 32), std::tuple("B", 32, 128), std::tuple("D", 128, 16)}) {
        std::vector<float> values;
        for (int i = 0; i < rows * columns; ++i) values.push_back(static_cast<float>((7 * i + 3) % 11 - 5));
        import::write_npy(path(fmt::format("{}.npy", name)), ElementType::kF32,
                          std::vector<int64_t>{rows, columns}, std::as_bytes(std::span(values)));
        arguments.push_back("--input");
        arguments.push_back(fmt::format("{0}={0}.npy", name));
    }
    // Sums of small whole numbers are exact in any order.
    const auto answer = [&](const std::string& of) {
        arguments[1] = of + ".tsr";
        arguments[3] = of;
        const ProcessResult result = tessera(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return read_floats(of + "/E.npy");
    };
    const ProcessResult all = compile("all.tsr", {});
    ASSERT_EQ(all.exit_code, 0) << all.errors;
    EXPECT_THAT(all.errors, Not(HasSubstr("without")));
    EXPECT_THAT(inspected({"all.tsr"}), Not(HasSubstr("without")));
    const std::vector<float> right = answer("all");
    ASSERT_FALSE(right.empty());

    const ProcessResult some =
        compile("some.tsr", {"--without", "layouts", "--without", "growth", "--regions", "1"});
    ASSERT_EQ(some.exit_code, 0) << some.errors;
    EXPECT_THAT(some.errors, HasSubstr(", without layouts, growth, regions of up to 1 operators"));
    EXPECT_THAT(inspected({"some.tsr"}), AllOf(HasSubstr("\nwithout     layouts, growth\n"),
                                               HasSubstr("\nregions     of up to 1 operators\n")));
    EXPECT_EQ(answer("some"), right);
    const std::string account =
        inspected({"some.tsr", "--search", "--machine", "round.toml", "--search-effort", "1"});
    EXPECT_THAT(account, StartsWith("the search ends with the plan of the artefact\n"
                                    "without layouts, growth, regions of up to 1 operators\n"));
    EXPECT_THAT(account, HasSubstr(" 0 regions, 0 cannot save, 0 grown, 0 nests,"));
    const auto json = nlohmann::json::parse(
        inspected({"some.tsr", "--search", "--json", "--machine", "round.toml", "--search-effort", "1"}));
    EXPECT_EQ(json.at("without"), nlohmann::json({"layouts", "growth"}));
    EXPECT_EQ(json.at("regions"), 1);
    const ProcessResult none =
        tessera({"explain", "some.tsr", "--tensor", "E", "--machine", "round.toml", "--search-effort", "1"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.errors, HasSubstr("it was compiled without them"));

    ASSERT_EQ(compile("nests.tsr", {"-q", "--without", "deep", "--without", "flat", "--without", "reorder",
                                    "--without", "large-tiles", "--without", "outer-sums", "--without",
                                    "padded-tiles", "--without", "proof", "--without", "outer-caches"})
                  .exit_code,
              0);
    EXPECT_EQ(answer("nests"), right);
    EXPECT_THAT(inspected({"nests.tsr", "--search", "--machine", "round.toml", "--search-effort", "1"}),
                StartsWith("the search ends with the plan of the artefact\nwithout proof, outer-caches,"));
}

TEST_F(Ablations, OfUnknownPartsAreRefusedWithTheList) {
    const ProcessResult unknown = compile("none.tsr", {"--without", "layout"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.errors, AllOf(HasSubstr("--without"), HasSubstr("layouts"), HasSubstr("one_hot")));
    EXPECT_EQ(compile("none.tsr", {"--regions", "9"}).exit_code, 2);
    EXPECT_EQ(compile("none.tsr", {"--without", "growth", "--plan", "plan.toml"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera
