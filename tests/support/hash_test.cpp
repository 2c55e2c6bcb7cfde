#include "support/hash.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

// The digests of the reference implementation's own tool: `printf abc | xxhsum -H2`.
TEST(Hash, IsXxh128) {
    EXPECT_EQ(hash_hex(""), "99aa06d3014798d86001c324468d497f");
    EXPECT_EQ(hash_hex("abc"), "06b05ab6733a618578af5f94892f3950");
}

TEST(Hash, DoesNotDependOnWhereTheStreamIsCut) {
    std::string text(1000, 'x');
    for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
    for (const size_t cut : {0, 1, 15, 240, 241, 999, 1000})
        EXPECT_EQ(Hasher().bytes(text.substr(0, cut)).bytes(text.substr(cut)).hex(), hash_hex(text)) << cut;
}

TEST(Hash, FieldsAreNotTheirConcatenation) {
    EXPECT_NE(Hasher().field("ab").field("c").hex(), Hasher().field("a").field("bc").hex());
    EXPECT_NE(Hasher().field("").field("a").hex(), Hasher().field("a").field("").hex());
}

}  // namespace
}  // namespace tessera
