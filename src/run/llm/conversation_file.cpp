#include "run/llm/conversation_file.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "support/json.h"
#include "support/mapped_file.h"
#include "support/printable.h"

namespace tessera::llm {
namespace {

constexpr int64_t kVersion = 1;
constexpr JsonBounds kBounds{
    .bytes = size_t{64} << 20, .values = 400'000, .depth = 8, .word = size_t{16} << 20};
constexpr std::array<std::string_view, 4> kRoles = {"system", "user", "assistant", "tool"};

}  // namespace

std::string print_conversation(const std::string& model, const std::vector<ChatMessage>& messages) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ChatMessage& message : messages)
        list.push_back({{"role", message.role}, {"content", valid_utf8(message.content)}});
    const nlohmann::ordered_json all = {
        {"conversation_version", kVersion}, {"model", valid_utf8(model)}, {"messages", std::move(list)}};
    return all.dump(1) + "\n";
}

std::vector<ChatMessage> parse_conversation(std::string_view json, const std::string& where) {
    const JsonCursor root = parse_json(json, where, kBounds);
    const JsonCursor version = root.at("conversation_version");
    if (version.integer() != kVersion)
        version.fail(fmt::format("is {}, expected {}", version.integer(), kVersion));
    std::vector<ChatMessage> messages;
    for (const JsonCursor& item : root.at("messages").items()) {
        const JsonCursor role = item.at("role");
        if (std::find(kRoles.begin(), kRoles.end(), role.string()) == kRoles.end())
            role.fail_expected("system, user, assistant or tool");
        messages.push_back({role.string(), item.at("content").string()});
    }
    return messages;
}

std::vector<ChatMessage> read_conversation(const std::filesystem::path& file) {
    return parse_conversation(MappedFile::open(file).text(), file.string());
}

}  // namespace tessera::llm
