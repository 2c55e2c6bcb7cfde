// /v1/embeddings on the model that ships, with quantised weights.

#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/serve/embedding_answer.h"
#include "cli/serve/http_client.h"
#include "cli/serve/running_server.h"
#include "cli/serve/shipped_artefact.h"
#include "tessera/model.h"

namespace tessera::serve {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::Answered;
using testing::Client;
using testing::RunningServer;
using Vectors = std::vector<std::vector<float>>;

Vectors vectors_of(const Answered& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    const Json whole = answer.json();
    Vectors vectors;
    for (const Json& item : whole["data"]) vectors.push_back(item["embedding"]);
    EXPECT_FALSE(vectors.empty()) << answer.body;
    return vectors;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    double largest = 0;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        largest = std::max<double>(largest, std::abs(a[i] - b[i]));
    return largest;
}

TEST(Embeddings, Base64OfLittleEndianNumbers) {
    EXPECT_EQ(base64({}), "");
    EXPECT_EQ(base64({1.0F}), "AACAPw==");
    EXPECT_EQ(base64({1.0F, -2.0F}), "AACAPwAAAMA=");
    EXPECT_EQ(base64({1.0F, -2.0F, 0.5F}), "AACAPwAAAMAAAAA/");
}

TEST(Embeddings, AreThoseOfTheLibrary) {
    RunningServer server(testing::shipped_artefact());
    Model model(testing::shipped_artefact());
    const std::vector<std::string> texts = {"61 + 93 =", "4", "sort 9 8 7"};
    Client client(server.port());
    for (const char* pooling : {"mean", "last"}) {
        const Answered answer =
            client.post("/v1/embeddings", {{"input", texts}, {"pooling", pooling}, {"model", "any"}});
        const Vectors found = vectors_of(answer);
        ASSERT_EQ(found.size(), 3U);
        for (size_t i = 0; i < texts.size(); ++i) {
            const EmbedOptions how{.pooling = *pooling == 'm' ? Pooling::kMean : Pooling::kLast};
            // The library takes faster code, whose products round otherwise.
            EXPECT_LT(largest_difference(found[i], model.embed(texts[i], how)), 0.01) << texts[i];
            double squares = 0;
            for (const float value : found[i]) squares += value * value;
            EXPECT_NEAR(squares, 1, 1e-5);
        }
        EXPECT_EQ(answer.json()["usage"]["total_tokens"], model.file().encode(texts[0]).size() +
                                                              model.file().encode(texts[1]).size() +
                                                              model.file().encode(texts[2]).size());
        const Json ids = {{"input", model.file().encode(texts[2])}, {"pooling", pooling}};
        EXPECT_EQ(vectors_of(client.post("/v1/embeddings", ids)), Vectors{found[2]});
        EXPECT_EQ(client
                      .post("/v1/embeddings",
                            {{"input", texts[2]}, {"pooling", pooling}, {"encoding_format", "base64"}})
                      .json()["data"][0]["embedding"],
                  base64(found[2]));
    }
}

TEST(Embeddings, DoNotDependOnWhatElseIsComputed) {
    RunningServer server(testing::shipped_artefact());
    const Json wanted = {{"input", {"12 - 5 =", "count 4 and then some more words"}}};
    Client client(server.port());
    const Vectors alone = vectors_of(client.post("/v1/embeddings", wanted));
    std::vector<std::thread> others;
    for (int i = 0; i < 6; ++i)
        others.emplace_back([&, i] {
            Client other(server.port());
            const Json text = {
                {"prompt", std::to_string(i) + " + 1 ="}, {"max_tokens", 60}, {"temperature", 1.5}};
            EXPECT_EQ(other.post("/v1/completions", text).status, 200);
        });
    for (int i = 0; i < 10; ++i) EXPECT_EQ(vectors_of(client.post("/v1/embeddings", wanted)), alone);
    for (std::thread& other : others) other.join();
}

TEST(Embeddings, OfOllama) {
    RunningServer server(testing::shipped_artefact());
    const ModelFile model(testing::shipped_artefact());
    Client client(server.port());
    const std::string name = client.get("/api/tags").json()["models"][0]["name"];
    const auto embed = [&](const Json& input) {
        return client.post("/api/embed", {{"model", name}, {"input", input}}).json();
    };
    const Vectors expected = vectors_of(client.post("/v1/embeddings", {{"input", {"61 + 93 =", "4"}}}));
    const Json both = embed({"61 + 93 =", "4"});
    EXPECT_EQ(both["embeddings"].get<Vectors>(), expected);
    EXPECT_EQ(both["prompt_eval_count"], model.encode("61 + 93 =").size() + model.encode("4").size());
    EXPECT_EQ(embed(Json::array())["embeddings"], Json::array());
    // The older endpoint does not normalise: the direction is the same.
    const std::vector<float> pooled =
        client.post("/api/embeddings", {{"model", name}, {"prompt", "61 + 93 ="}}).json()["embedding"];
    ASSERT_EQ(pooled.size(), expected[0].size());
    double squares = 0;
    for (const float value : pooled) squares += value * value;
    EXPECT_GT(std::abs(squares - 1), 1e-3);
    for (size_t i = 0; i < pooled.size(); ++i)
        EXPECT_NEAR(pooled[i] / std::sqrt(squares), expected[0][i], 1e-6);
    // A text that is too long is cut at its end, unless the request forbids it.
    std::string text = "4";
    while (model.encode(text).size() < static_cast<size_t>(model.context())) text += " 4";
    EXPECT_EQ(embed(text + " 9 9 9")["embeddings"], embed(text)["embeddings"]);
    EXPECT_EQ(
        client.post("/api/embed", {{"model", name}, {"input", text + " 9 9 9"}, {"truncate", false}}).status,
        400);
}

TEST(Embeddings, Refusals) {
    RunningServer server(testing::shipped_artefact());
    Client client(server.port());
    const auto refused = [&](const Json& body) {
        const Answered answer = client.post("/v1/embeddings", body);
        EXPECT_EQ(answer.status, 400);
        return answer.json()["error"]["message"].get<std::string>();
    };
    EXPECT_THAT(refused({{"input", "4"}, {"dimensions", 3}}),
                HasSubstr("dimensions: is 3, and the model has"));
    EXPECT_THAT(refused({{"input", ""}}), HasSubstr("a text without tokens"));
    EXPECT_THAT(refused({{"input", {1000000}}}), HasSubstr("not of the vocabulary"));
    EXPECT_THAT(refused({{"input", std::vector<int>(300, 1)}}), HasSubstr("does not fit into the context"));
}

}  // namespace
}  // namespace tessera::serve
