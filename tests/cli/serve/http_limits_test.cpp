// Clients that are idle, slow or half finished, and the end of the server. Limits are short here; what must
// not happen within them is given far more time than it takes.

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/serve/http_client.h"
#include "cli/serve/running_server.h"
#include "cli/serve/toy_fixture.h"

namespace tessera::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using testing::Answered;
using testing::Client;
using testing::RunningServer;

class HttpLimits : public testing::ToyFixture {
protected:
    static std::string post(size_t size) {
        return fmt::format("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", size);
    }
    /// It takes long: thousands of texts, one after the other.
    static Json long_request() {
        return {{"prompt", std::vector<std::string>(2048, "a")}, {"max_tokens", 120}, {"stream", true}};
    }
};

TEST_F(HttpLimits, SilentClientsGiveTheirPlaces) {
    ServerSettings settings;
    settings.connections = 4;
    RunningServer server(artefact(), settings_, {}, settings);
    std::vector<std::unique_ptr<Client>> silent;
    for (int i = 0; i < 20; ++i) {
        silent.push_back(std::make_unique<Client>(server.port()));
        EXPECT_EQ(Client(server.port()).get("/health").status, 200);
    }
    // The last ones have kept their places.
    EXPECT_EQ(silent.back()->get("/health").status, 200);
    EXPECT_EQ(silent.front()->get("/health").status, 0);
}

TEST_F(HttpLimits, RequestsThatHaveNotComeWholeGiveTheirPlaces) {
    ServerSettings settings;
    settings.connections = 3;
    RunningServer server(artefact(), settings_, {}, settings);
    std::vector<std::unique_ptr<Client>> half;
    for (int i = 0; i < 3; ++i) {
        half.push_back(std::make_unique<Client>(server.port()));
        half.back()->send(post(100) + "{");
        EXPECT_EQ(Client(server.port()).get("/health").status, 200);
    }
    EXPECT_EQ(Client(server.port()).get("/health").status, 200);
    EXPECT_EQ(half.front()->read_answer().status, 408);
}

TEST_F(HttpLimits, HealthIsAnsweredWhereEveryPlaceIsAtWork) {
    ServerSettings settings;
    settings.connections = 2;
    RunningServer server(artefact(), {.sequences = 1, .waiting = 5000, .batch_invariant = false}, {},
                         settings);
    Client first(server.port()), second(server.port());
    for (Client* client : {&first, &second}) client->send_post("/v1/completions", long_request().dump());
    while (server.engine().statistics().waiting < 2049) std::this_thread::yield();
    for (int i = 0; i < 40; ++i) {  // more than there are places of any kind
        Client client(server.port());
        EXPECT_EQ(client.get("/health").status, 200);
        const Answered refused = client.post("/v1/completions", {{"prompt", "a"}});
        EXPECT_EQ(refused.status, 503);
        EXPECT_EQ(refused.json()["error"]["code"], "connections_full");
    }
}

TEST_F(HttpLimits, SteadySlowClientsAreServed) {
    ServerSettings settings;
    settings.transfer_time = 2000ms;
    RunningServer server(artefact(), settings_, {}, settings);
    Client client(server.port());
    const std::string body = R"({"prompt": "cab", "max_tokens": 1})";
    const std::string request = post(body.size()) + body;
    for (size_t at = 0; at < request.size(); at += 10) {  // 3 s in all
        client.send(request.substr(at, 10));
        std::this_thread::sleep_for(250ms);
    }
    EXPECT_EQ(client.read_answer().status, 200);
}

TEST_F(HttpLimits, ARequestWithoutProgressIsToldSo) {
    ServerSettings settings;
    settings.transfer_time = 50ms;
    settings.idle_time = 100ms;
    RunningServer server(artefact(), settings_, {}, settings);
    for (const std::string& begun : {std::string("GET /health HT"), post(100), post(100) + "{\"prompt"}) {
        Client client(server.port());
        client.send(begun);
        const Answered answer = client.read_answer();
        EXPECT_EQ(answer.status, 408) << begun;
        EXPECT_EQ(answer.header("Connection"), "close");
    }
    Client silent(server.port());  // has asked for nothing
    EXPECT_EQ(silent.read_until("\r\n"), "");
}

TEST_F(HttpLimits, StoppingDoesNotWaitForWhatHasNotBegun) {
    ServerSettings settings;
    settings.drain_time = 100'000ms;
    const auto start = std::chrono::steady_clock::now();
    RunningServer server(artefact(), settings_, {}, settings);
    Client idle(server.port()), head(server.port()), body(server.port());
    EXPECT_EQ(idle.get("/health").status, 200);
    head.send("GET /hea");
    body.send(post(100) + "{");
    std::this_thread::sleep_for(100ms);  // so that they have begun; otherwise they are idle
    server.stop();
    server.join();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 50s);
    EXPECT_EQ(body.read_answer().status, 503);
}

TEST_F(HttpLimits, WhenTheTimeToStopIsOverStreamsAreTold) {
    ServerSettings settings;
    settings.drain_time = 50ms;
    RunningServer server(artefact(), {.sequences = 1, .waiting = 5000, .batch_invariant = false}, {},
                         settings);
    Client stream(server.port()), whole(server.port());
    stream.send_post("/v1/completions", long_request().dump());
    EXPECT_THAT(stream.read_until("data: "), HasSubstr("200 OK"));
    Json other = long_request();
    other["stream"] = false;
    whole.send_post("/v1/completions", other.dump());
    while (server.engine().statistics().waiting < 2049) std::this_thread::yield();
    server.stop();
    EXPECT_THAT(stream.read_until("0\r\n\r\n"),
                HasSubstr("data: {\"error\":{\"message\":\"the server stops\""));
    EXPECT_EQ(whole.read_answer().status, 503);
    server.join();
}

}  // namespace
}  // namespace tessera::serve
