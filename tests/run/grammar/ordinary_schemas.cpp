#include "run/grammar/ordinary_schemas.h"

#include <fstream>

#include "run/grammar/schema_value.h"

namespace tessera::grammar {

std::vector<OrdinarySchema> ordinary_schemas() {
    std::ifstream file(std::string(TESSERA_SOURCE_DIR) + "/tests/run/grammar/ordinary_schemas.jsonl");
    std::vector<OrdinarySchema> result;
    for (std::string line; std::getline(file, line);) {
        const SchemaValue value = parse_schema_value(line, "ordinary_schemas.jsonl");
        OrdinarySchema& one = result.emplace_back();
        one.schema = value.find("schema")->json();
        for (const SchemaValue& item : value.find("valid")->items) one.valid.push_back(item.json());
        for (const SchemaValue& item : value.find("invalid")->items) one.invalid.push_back(item.json());
        if (const SchemaValue* refused = value.find("refused")) one.refused = refused->text;
    }
    return result;
}

}  // namespace tessera::grammar
