#include "run/runtime/manifest.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/runtime/toy_model.h"
#include "support/error.h"

namespace tessera::runtime {
namespace {

std::string problem_of(const Manifest& manifest) {
    try {
        verify(manifest, "a.tsr");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Manifest, PrintsAndParses) {
    Manifest manifest = ToyModel{.eos = {3, 7}}.manifest();
    manifest.text->policy = "default";
    manifest.text->bos = 1;
    manifest.instruction_sets = {"avx2", "fma"};
    manifest.states.push_back(
        {"ragged \"name\"\n", ElementType::kF32, {Dim("S")}, {Dim("S", 3), Dim(16)}, 7});
    EXPECT_EQ(parse_manifest(print(manifest), ""), manifest);
    EXPECT_EQ(print(parse_manifest(print(manifest), "")), print(manifest));
}

TEST(Manifest, WithoutTextFacts) {
    Manifest manifest = ToyModel().manifest();
    manifest.text.reset();
    EXPECT_EQ(parse_manifest(print(manifest), ""), manifest);
}

TEST(Manifest, WarningsStandThereOnlyIfThereAreSome) {
    Manifest manifest = ToyModel().manifest();
    EXPECT_EQ(print(manifest).find("warnings"), std::string::npos);
    manifest.warnings = {"a setting \"x\" that Tessera does not know", "another"};
    EXPECT_EQ(parse_manifest(print(manifest), ""), manifest);
}

TEST(Manifest, PartsThatWereLeftOutStandThereOnlyIfThereAreSome) {
    Manifest manifest = ToyModel().manifest();
    EXPECT_EQ(print(manifest).find("without"), std::string::npos);
    EXPECT_EQ(print(manifest).find("regions"), std::string::npos);
    manifest.without = {"layouts", "growth"};
    manifest.regions = 2;
    EXPECT_EQ(parse_manifest(print(manifest), ""), manifest);
}

TEST(Manifest, SizesFollowTheSymbols) {
    const Manifest manifest = ToyModel().manifest();
    const std::vector<int64_t> symbols = {5, 2, 1, 5, 32, 9};
    EXPECT_EQ(byte_size(manifest, ElementType::kF32, manifest.outputs[0].shape, symbols), 2 * 23 * 4);
    EXPECT_EQ(byte_size(manifest, manifest.states[0], symbols), 2 * 9 * 16 * 4);
    EXPECT_EQ(byte_size(manifest, ElementType::kU4, std::vector<Dim>{Dim("T")}, symbols), 3)
        << "rounded up to bytes";
    EXPECT_EQ(byte_size(manifest, ElementType::kF32, std::vector<Dim>{}, symbols), 4) << "a scalar";
    const std::vector<int64_t> huge(6, INT64_MAX / 8);
    EXPECT_EQ(byte_size(manifest, manifest.states[0], huge), std::nullopt);
}

struct Spoilt {
    std::function<void(Manifest&)> spoil;
    std::string message;
};

TEST(Manifest, WhatDoesNotAgreeIsNamed) {
    const std::vector<Spoilt> cases = {
        {[](Manifest& m) { m.symbols[1].name = "T"; }, "a.tsr: `symbols.T`: occurs twice"},
        {[](Manifest& m) { m.symbols[0].name = ""; }, "a.tsr: `symbols`: holds a name of 0 characters"},
        {[](Manifest& m) { m.symbols[0].high = 0; },
         "a.tsr: `symbols.T.high`: is 0, expected 1 to 1099511627776"},
        {[](Manifest& m) { m.symbols[4].multiple_of = 0; },
         "a.tsr: `symbols.S.multiple_of`: is 0, expected 1 to 1099511627776"},
        {[](Manifest& m) { m.inputs[0].shape = {Dim("Q")}; },
         "a.tsr: `inputs.tokens`: has an extent in `Q`, which is no symbol"},
        {[](Manifest& m) { m.outputs[0].shape[1] = Dim(-1); },
         "a.tsr: `outputs.logits`: is -1, expected 0 to 1099511627776"},
        {[](Manifest& m) { m.outputs[0].shape.assign(17, Dim(1)); },
         "a.tsr: `outputs.logits`: has 17 axes, at most 16 are possible"},
        {[](Manifest& m) { m.states[0].repeat = 0; },
         "a.tsr: `states.keys.repeat`: is 0, expected 1 to 1099511627776"},
        {[](Manifest& m) { m.constants[0].offset = 60; },
         "a.tsr: `constants.weight.offset`: is 60, expected a multiple of 64"},
        {[](Manifest& m) { m.constants[0].bytes = 65; },
         "a.tsr: `constants.weight.bytes`: is 65, expected 0 to 64"},
        {[](Manifest& m) { m.constants[0].repeat = 2, m.constants[0].stride = 64; },
         "a.tsr: `constants.weight`: has 2 repetitions that do not fit into the section"},
        {[](Manifest& m) { m.constants[0].repeat = 2, m.constants[0].stride = 2; },
         "a.tsr: `constants.weight.stride`: is 2, expected 4 to 1125899906842624"},
        {[](Manifest& m) { m.constants_bytes = -1; },
         "a.tsr: `constants_bytes`: is -1, expected 0 to 1125899906842624"},
        {[](Manifest& m) { m.specialisations.clear(); },
         "a.tsr: `specialisations`: is empty: there is no code to call"},
        {[](Manifest& m) { m.specialisations[0].entry = ""; },
         "a.tsr: `specialisations.decode.entry`: is not the name of a function"},
        {[](Manifest& m) { m.specialisations[0].bounds.erase("S"); },
         "a.tsr: `specialisations.decode.bounds`: lacks the symbol `S`"},
        {[](Manifest& m) {
             m.specialisations[0].bounds["X"] = {1, 1};
         },
         "a.tsr: `specialisations.decode.bounds`: names `X`, which is no symbol"},
        {[](Manifest& m) {
             m.specialisations[0].bounds["T"] = {1, 9};
         },
         "a.tsr: `specialisations.decode.bounds.T.high`: is 9, expected 1 to 8"},
        {[](Manifest& m) {
             m.specialisations[0].bounds["T"] = {3, 2};
         },
         "a.tsr: `specialisations.decode.bounds.T.high`: is 2, expected 3 to 8"},
        {[](Manifest& m) { m.specialisations[0].arena_bytes = -64; },
         "a.tsr: `specialisations.decode.arena_bytes`: is -64, expected 0 to 1125899906842624"},
        {[](Manifest& m) { m.text->vocabulary = 0; },
         "a.tsr: `text.vocabulary`: is 0, expected 1 to 2147483647"},
        {[](Manifest& m) { m.text->eos = {23}; }, "a.tsr: `text.eos`: is 23, expected 0 to 22"},
    };
    for (const Spoilt& spoilt : cases) {
        Manifest manifest = ToyModel().manifest();
        ASSERT_EQ(problem_of(manifest), "");
        spoilt.spoil(manifest);
        EXPECT_EQ(problem_of(manifest), spoilt.message);
    }
}

std::string parse_problem(const std::string& json) {
    try {
        parse_manifest(json, "a.tsr");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Manifest, EveryFieldIsRequiredAndTyped) {
    const std::string good = print(ToyModel().manifest());
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return parse_problem(text.replace(at, from.size(), to));
    };
    EXPECT_EQ(
        with("\"manifest_version\": 2", "\"manifest_version\": 3"),
        "a.tsr: `manifest_version`: is 3, expected 2 (compile the model again with this version of Tessera)");
    EXPECT_EQ(with("\"machine_hash\"", "\"machine_cash\""), "a.tsr: `machine_hash`: is missing");
    EXPECT_EQ(with("\"model\": \"toy\"", "\"model\": []"), "a.tsr: `model`: is [], expected a text");
    EXPECT_EQ(with("\"constants_bytes\": 128", "\"constants_bytes\": 1.5"),
              "a.tsr: `constants_bytes`: is 1.5, expected an integer of 64 bits");
    EXPECT_EQ(with("\"constants_bytes\": 128", "\"constants_bytes\": 18446744073709551615"),
              "a.tsr: `constants_bytes`: is 18446744073709551615, expected an integer of 64 bits");
    EXPECT_EQ(with("\"element\": \"i32\"", "\"element\": \"i33\""),
              "a.tsr: `inputs[0].element`: is `i33`, which is no element type");
    EXPECT_EQ(with("\"multiple_of\": 1", "\"multiple_of\": null"),
              "a.tsr: `symbols[0].multiple_of`: is missing");
    EXPECT_EQ(with("\"eos\": []", "\"eos\": [-1]"), "a.tsr: `text.eos[0]`: is -1, expected a token id");
}

TEST(Manifest, NoPrefixIsAccepted) {
    const std::string good = print(ToyModel().manifest());
    for (size_t length = 0; length + 2 < good.size(); ++length)
        EXPECT_NE(parse_problem(good.substr(0, length)), "") << length;
}

}  // namespace
}  // namespace tessera::runtime
