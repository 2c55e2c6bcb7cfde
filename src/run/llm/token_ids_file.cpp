#include "run/llm/token_ids_file.h"

#include <array>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/error.h"
#include "support/json.h"
#include "support/mapped_file.h"

namespace tessera::llm {
namespace {

constexpr JsonBounds kIdsBounds{.bytes = size_t{16} << 20};

JsonCursor list_in(const JsonCursor& root, std::span<const std::string_view> keys) {
    if (root.is_object())
        for (const std::string_view key : keys)
            if (const auto found = root.find(key)) return *found;
    if (!root.is_array())
        root.fail(fmt::format("holds no token ids: expected a list, or an object with one under {}",
                              fmt::join(keys, " or ")));
    return root;
}

}  // namespace

std::vector<TokenId> read_token_ids(const std::filesystem::path& path,
                                    std::span<const std::string_view> keys) {
    const MappedFile file = MappedFile::open(path);
    const JsonCursor list = list_in(parse_json(file.text(), path.string(), kIdsBounds), keys);
    std::vector<TokenId> ids;
    for (const JsonCursor& id : list.items())
        ids.push_back(static_cast<TokenId>(id.integer(0, std::numeric_limits<TokenId>::max(), "a token id")));
    return ids;
}

std::vector<TokenId> read_prompt_ids(const std::filesystem::path& path) {
    constexpr std::array<std::string_view, 4> kKeys = {"prompt_ids", "ids", "input_ids", "tokens"};
    return read_token_ids(path, kKeys);
}

}  // namespace tessera::llm
