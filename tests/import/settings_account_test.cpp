#include "import/settings_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::import {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr HarmlessSettings kHarmless[] = {{"training", "dropout attention_dropout"}, {"people", "general.*"}};

Findings account(const UnreadSetting& setting) {
    Findings findings;
    account_for(std::span(&setting, 1), kHarmless, findings);
    return findings;
}

UnreadSetting on(const char* name) {
    return {.name = name, .value = "7"};
}
UnreadSetting off(const char* name) {
    return {.name = name, .value = "false", .is_off = true};
}

TEST(SettingsAccount, RefusesWhatMayChangeResults) {
    for (const char* name : {"attn_soft_scale", "final_norm_bias", "SlidingPattern", "llama.rope.freq_low",
                             "qk_clip", "use_mup", "kv_heads"}) {
        EXPECT_THAT(account(on(name)).unsupported, ElementsAre(HasSubstr(std::string(name) + " = 7")))
            << name;
        EXPECT_THAT(account(on(name)).warnings, IsEmpty()) << name;
    }
}

TEST(SettingsAccount, WarnsOfTheRest) {
    for (const char* name : {"an_invention", "llama.pooling_type", "dropouts"}) {
        EXPECT_THAT(account(on(name)).warnings, ElementsAre(HasSubstr(std::string(name) + " = 7"))) << name;
        EXPECT_THAT(account(on(name)).unsupported, IsEmpty()) << name;
    }
}

TEST(SettingsAccount, WhatIsOffChangesNothingUnlessEveryDecoderHasIt) {
    EXPECT_THAT(account(off("use_moe_head")).unsupported, IsEmpty());
    EXPECT_THAT(account(off("use_moe_head")).warnings, ElementsAre(HasSubstr("use_moe_head = false")));
    for (const char* name : {"use_rope", "causal_heads", "add_norm"})
        EXPECT_THAT(account(off(name)).unsupported, ElementsAre(HasSubstr(name))) << name;
}

TEST(SettingsAccount, SaysNothingOfHarmlessAndEmptySettings) {
    for (const UnreadSetting& setting :
         {on("attention_dropout"), on("dropout"), on("general.rope"),
          UnreadSetting{.name = "attn_x", .value = "null", .is_empty = true}}) {
        EXPECT_THAT(account(setting).warnings, IsEmpty()) << setting.name;
        EXPECT_THAT(account(setting).unsupported, IsEmpty()) << setting.name;
    }
}

TEST(SettingsAccount, ListsOneLineAndNoControlCharacters) {
    std::vector<UnreadSetting> many;
    for (int i = 0; i < 20; ++i) many.push_back(on("strange"));
    many.front().name = "a\x1b[2J\nb" + std::string(100, 'x');
    Findings findings;
    account_for(many, {}, findings);
    ASSERT_EQ(findings.warnings.size(), 1u);
    EXPECT_THAT(findings.warnings.front(), HasSubstr(R"(a\x1b[2J\nbxxx)"));
    EXPECT_THAT(findings.warnings.front(), HasSubstr("; ..."));
    EXPECT_THAT(findings.warnings.front(), Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace tessera::import
