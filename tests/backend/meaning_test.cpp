// Calls that C++ has no spelling for: the statements of their meaning are emitted in their place.
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "backend/cpp/emit.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/example_plans.h"
#include "lowering/movement/interpreted_plan.h"

namespace tessera::testing {
namespace {

/// C++ that spells no call.
constexpr backend::Backend kCppByMeaning{
    .name = "cpp",
    .summary = "",
    .suffix = "cpp",
    .emit = [](const std::string& model, const std::vector<movement::Program>& programs,
               const backend::Exchanges& exchanges) {
        return backend::cpp::emit(model, programs, exchanges, {});
    }};

TEST(CallsByTheirMeaning, ComputeWhatTheInterpreterDoes) {
    CompiledPlans compiled(4, kCppByMeaning);
    for (const auto& [kernel, example] : examples()) compiled.add(example.parsed(), example.planned());
    compiled.compile();
    size_t index = 0;
    for (const auto& [kernel, example] : examples()) {
        SCOPED_TRACE(kernel);
        for (const int64_t tokens : {1, 5, 64}) compiled.run(index, example.call(tokens));
        ++index;
    }
}

TEST(CallsByTheirMeaning, StandBesideSpelledOnes) {
    const Example& example = examples().at("stream");
    const std::vector<movement::Program> programs =
        InterpretedPlan(example.parsed(), example.planned()).programs();
    kernels::Spellings spellings = kernels::spellings();
    const std::string spelled = backend::cpp::emit("", programs, {}, spellings).text;
    EXPECT_NE(spelled.find("ntt::softmax_step<"), std::string::npos);
    EXPECT_EQ(spelled.find("call_origin"), std::string::npos);
    spellings.erase(&kernels::find_micro_kernel("stream")->call());
    const std::string mixed = backend::cpp::emit("", programs, {}, spellings).text;
    EXPECT_EQ(mixed.find("ntt::softmax_step<"), std::string::npos);
    EXPECT_NE(mixed.find("float call_origin = 0.0f;"), std::string::npos);
    EXPECT_NE(mixed.find("ntt::contract<"), std::string::npos);
}

}  // namespace
}  // namespace tessera::testing
