#include "llm/token_ids_file.h"

#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/error.h"
#include "support/json_bounds.h"
#include "support/mapped_file.h"

namespace tessera {
namespace {

using Json = nlohmann::json;

const Json& list_in(const Json& root, std::span<const std::string_view> keys, const std::string& where) {
    if (root.is_object())
        for (const std::string_view key : keys)
            if (const auto found = root.find(key); found != root.end()) return *found;
    if (!root.is_array())
        throw Error(where, "",
                    fmt::format("holds no token ids: expected a list, or an object with one under {}",
                                fmt::join(keys, " or ")));
    return root;
}

}  // namespace

std::vector<TokenId> read_token_ids(const std::filesystem::path& path,
                                    std::span<const std::string_view> keys) {
    const MappedFile file = MappedFile::open(path);
    check_json_bounds(file.text(), {.bytes = size_t{16} << 20}, path.string());
    Json root;
    try {
        root = Json::parse(file.text());
    } catch (const Json::exception& error) {
        throw Error(path.string(), "", fmt::format("is not JSON: {}", error.what()));
    }
    const Json& list = list_in(root, keys, path.string());
    if (!list.is_array())
        throw Error(path.string(), "", fmt::format("has {} where token ids are expected", list.type_name()));
    std::vector<TokenId> ids;
    for (size_t i = 0; i < list.size(); ++i) {
        const bool is_id =
            list[i].is_number_unsigned() && list[i].get<uint64_t>() <= std::numeric_limits<TokenId>::max();
        if (!is_id)
            throw Error(path.string(), fmt::format("[{}]", i),
                        fmt::format("is {}, expected a token id",
                                    list[i].dump(-1, ' ', true, Json::error_handler_t::replace)));
        ids.push_back(list[i].get<TokenId>());
    }
    return ids;
}

std::vector<TokenId> read_prompt_ids(const std::filesystem::path& path) {
    constexpr std::array<std::string_view, 4> kKeys = {"prompt_ids", "ids", "input_ids", "tokens"};
    return read_token_ids(path, kKeys);
}

}  // namespace tessera
