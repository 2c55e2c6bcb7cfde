// The page that chats with the model, as the server sends it and in a browser.

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/serve/http_client.h"
#include "cli/serve/running_server.h"
#include "cli/serve/toy_fixture.h"
#include "support/subprocess.h"

namespace tessera::serve {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::Answered;
using testing::Client;
using testing::RunningServer;

class ChatPage : public testing::ToyFixture {
protected:
    /// The output of chat_page.py; null if there is no browser.
    static Json in_browser(uint16_t port, std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(),
                         {"-B", std::string(TESSERA_SOURCE_DIR) + "/tests/cli/serve/chat_page.py",
                          fmt::format("http://127.0.0.1:{}/", port)});
        const ProcessResult result =
            run_process({.program = "/usr/bin/python3", .arguments = std::move(arguments)});
        if (result.exit_code == 77) return nullptr;
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return result.exit_code == 0 ? Json::parse(result.output) : Json::object();
    }
};

TEST_F(ChatPage, IsSentToAnybodyWithAStrictPolicy) {
    RunningServer server(artefact(), settings_, {.api_key = "secret"});
    Client client(server.port());
    std::set<std::string> policies;
    for (int i = 0; i < 2; ++i) {
        const Answered page = client.get("/");
        EXPECT_EQ(page.status, 200);
        EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
        const std::string policy = page.header("Content-Security-Policy");
        EXPECT_THAT(policy, ::testing::StartsWith("default-src 'none'; script-src 'nonce-"));
        const std::string nonce = policy.substr(policy.find("'nonce-") + 7, 32);
        EXPECT_THAT(page.body, HasSubstr("<script nonce=\"" + nonce + "\">"));
        EXPECT_THAT(page.body, HasSubstr("<style nonce=\"" + nonce + "\">"));
        for (const char* outside : {"http://", "https://", "//cdn", "innerHTML", "{{nonce}}"})
            EXPECT_EQ(page.body.find(outside), std::string::npos) << outside;
        policies.insert(policy);
    }
    EXPECT_EQ(policies.size(), 2U);
    const Answered icon = client.get("/favicon.ico");
    EXPECT_EQ(icon.status, 200);
    EXPECT_EQ(icon.header("Content-Type"), "image/svg+xml");
}

TEST_F(ChatPage, ChatsInABrowser) {
    RunningServer server(artefact(), settings_);
    const Json seen = in_browser(server.port(), {"--system", "de", "--temperature", "0", "cab"});
    if (seen.is_null())
        GTEST_SKIP() << "not checked: the page that chats, in a browser, which needs chromium";
    EXPECT_EQ(seen["model"], "toy");
    EXPECT_EQ(seen["answers"][0], greedy("sdeucaba", 121));  // up to the end of the context
    EXPECT_GT(seen["steps"], 3);
    EXPECT_EQ(seen["hostile"]["made"], "h2 div div pre code");
    EXPECT_THAT(seen["hostile"]["shown"].get<std::string>(), HasSubstr("<script>"));
    EXPECT_EQ(seen["hostile"]["taken"], false);
    EXPECT_EQ(seen["forgets"], true);
    EXPECT_EQ(seen["problems"], Json::array()) << seen;
}

TEST_F(ChatPage, ContinuesTextsWhereTheModelHasNoTemplate) {
    toy_.tokenizer.pop_back();
    toy_.write(artefact());
    RunningServer server(artefact(), settings_);
    const Json seen = in_browser(server.port(), {"--temperature", "0", "cab"});
    if (seen.is_null())
        GTEST_SKIP() << "not checked: the page of a model without a template, which needs chromium";
    EXPECT_EQ(seen["answers"][0], greedy("cab", 126));
}

TEST_F(ChatPage, AsksForTheKey) {
    RunningServer server(artefact(), settings_, {.api_key = "secret"});
    const Json seen = in_browser(server.port(), {"--key", "secret", "--temperature", "0", "cab"});
    if (seen.is_null()) GTEST_SKIP() << "not checked: the page that asks for a key, which needs chromium";
    EXPECT_THAT(seen["answers"][0].get<std::string>(), ::testing::StartsWith(greedy("ucaba", 40)));
    ASSERT_EQ(seen["problems"].size(), 1U) << seen;
    EXPECT_THAT(seen["problems"][0].get<std::string>(), HasSubstr("401"));
}

}  // namespace
}  // namespace tessera::serve
