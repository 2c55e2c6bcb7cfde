#include "run/grammar/ordinary_schemas.h"

#include <memory>

#include <gtest/gtest.h>

#include "run/grammar/accepts.h"
#include "run/grammar/json_schema.h"
#include "tessera/error.h"

namespace tessera::grammar {
namespace {

TEST(OrdinarySchemas, AreFollowedOrRefusedByName) {
    const auto schemas = ordinary_schemas();
    ASSERT_GT(schemas.size(), 70u);
    for (const OrdinarySchema& one : schemas) {
        std::shared_ptr<const Automaton> automaton;
        std::string refusal;
        try {
            automaton = std::make_shared<const Automaton>(compile(parse_schema(one.schema, "s")));
        } catch (const Error& error) {
            refusal = error.entity;
        }
        EXPECT_EQ(refusal, one.refused) << one.schema;
        if (!automaton) continue;
        for (const std::string& text : one.valid)
            EXPECT_TRUE(accepts(automaton, text)) << one.schema << " " << text;
        for (const std::string& text : one.invalid)
            EXPECT_FALSE(accepts(automaton, text)) << one.schema << " " << text;
    }
}

}  // namespace
}  // namespace tessera::grammar
