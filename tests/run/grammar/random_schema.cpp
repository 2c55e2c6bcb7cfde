#include "run/grammar/random_schema.h"

#include <array>

namespace tessera::grammar {
namespace {

class SchemaWriter {
public:
    explicit SchemaWriter(std::mt19937& random) : random_(random) {}

    std::string write() {
        std::string text = schema(3);
        // The definition may refer to itself below a list, where that ends.
        text.insert(text.size() - 1, std::string(text == "{}" ? "" : ", ") +
                                         R"("$defs": {"d": {"type": "array", "items": )" + schema(1) +
                                         R"(, "maxItems": 2}})");
        return text;
    }

private:
    uint32_t below(uint32_t count) { return random_() % count; }
    std::string number(uint32_t most) { return std::to_string(below(most + 1)); }

    std::string value(int depth) {
        constexpr std::array<const char*, 10> kValues = {
            "null", "true", "false", "0", "-12", "1.5", R"("")", R"("a\"b")", R"("\u00e9\\n")", "1e3"};
        if (depth > 0 && below(4) == 0) return "[" + value(depth - 1) + ", " + value(depth - 1) + "]";
        if (depth > 0 && below(4) == 0)
            return R"({"a": )" + value(depth - 1) + R"(, "b": )" + value(depth - 1) + "}";
        return kValues[below(kValues.size())];
    }

    std::string schema(int depth) {
        switch (below(depth > 0 ? 20 : 12)) {
            case 0:
                return R"({"type": "string", "minLength": )" + number(2) + R"(, "maxLength": )" +
                       std::to_string(2 + below(4)) + "}";
            case 1:
                return R"({"type": "integer", "minimum": )" +
                       std::to_string(static_cast<int>(below(300)) - 150) +
                       (below(2) == 0 ? R"(, "exclusiveMaximum": )" + std::to_string(200 + below(3000))
                                      : "") +
                       "}";
            case 2:
                return R"({"type": ["number", "null"], "title": "t"})";
            case 3:
                return R"({"enum": [)" + value(2) + ", " + value(1) + "]}";
            case 4:
                return R"({"const": )" + value(2) + "}";
            case 5:
                return below(2) == 0 ? R"({"type": "boolean"})" : R"({"type": "string"})";
            case 6:
                return "{}";
            case 7:
                return bounded_number();
            case 8:
                return patterned_string();
            case 9:
                return R"({"enum": [)" + value(1) + ", " + value(0) + R"(, "ab", 3, -7], "minimum": )" +
                       number(5) + R"(, "maxLength": 2})";
            case 10:
                return R"({"type": "integer", "multipleOf": )" + std::to_string(1 + below(30)) +
                       R"(, "minimum": )" + std::to_string(static_cast<int>(below(300)) - 150) + "}";
            case 11:
                return R"({"type": "integer", "format": "int32", "x-a": 1, "nullable": true})";
            case 12:
                return R"({"type": "array", "items": )" + schema(depth - 1) + R"(, "minItems": )" +
                       number(2) + R"(, "maxItems": )" + std::to_string(2 + below(3)) + "}";
            case 13:
                return R"({"type": "array", "prefixItems": [)" + schema(depth - 1) + ", " + schema(0) + "]" +
                       (below(2) == 0 ? R"(, "items": )" + schema(0) : "") + "}";
            case 14:
                return below(2) == 0 ? R"({"anyOf": [)" + schema(depth - 1) + ", " + schema(depth - 1) + "]}"
                                     : R"({"oneOf": [)" + schema(depth - 1) + ", " + schema(depth - 1) + "]}";
            case 15:
                return R"({"$ref": "#/$defs/d"})";
            case 16:
                return R"({"allOf": [)" + schema(depth - 1) + ", " + schema(depth - 1) + "]}";
            case 17:
                return R"({"type": "object", "properties": {"a": )" + schema(depth - 1) + R"(, "b": )" +
                       schema(0) + R"(}, )" + (below(2) == 0 ? R"("anyOf")" : R"("oneOf")") +
                       R"(: [{"required": ["a"]}, {"required": ["b"]}]})";
            case 18:
                return R"({"type": "object", "patternProperties": {"^a": )" + schema(depth - 1) +
                       R"(, "b$": )" + schema(0) + R"(}, "additionalProperties": )" +
                       (below(2) == 0 ? "false" : schema(0)) + R"(, "maxProperties": )" + number(3) + "}";
            default:
                return object(depth - 1);
        }
    }

    std::string bounded_number() {
        constexpr std::array<const char*, 9> kBounds = {
            "0", "1", "0.1", "-0.25", "99.5", "1e-7", "-1000000", "0.3", "12345678901234567"};
        constexpr std::array<const char*, 4> kWords = {"minimum", "exclusiveMinimum", "maximum",
                                                       "exclusiveMaximum"};
        std::string text = R"({"type": "number")";
        for (const char* word : kWords)
            if (below(2) == 0) text += ", \"" + std::string(word) + "\": " + kBounds[below(kBounds.size())];
        return text + (below(4) == 0 ? R"(, "multipleOf": 0.5})" : "}");
    }

    std::string patterned_string() {
        constexpr std::array<const char*, 10> kPatterns = {
            "^[a-z]+$",         "a|b", "^(?:x[^\"]?){1,3}$", "\\\\d$", "^.{2}", "\\\\bab",
            "^(?=.*a)(?!b).*$", "^$",  "^\\\\S+@\\\\S+$",    "[^a]c?"};
        constexpr std::array<const char*, 10> kFormats = {"date",  "date-time", "time", "duration", "uuid",
                                                          "email", "ipv4",      "ipv6", "hostname", "uri"};
        std::string text = R"({"type": "string", )";
        text += below(2) == 0 ? R"("pattern": ")" + std::string(kPatterns[below(kPatterns.size())]) + "\""
                              : R"("format": ")" + std::string(kFormats[below(kFormats.size())]) + "\"";
        if (below(3) == 0) text += R"(, "maxLength": )" + std::to_string(1 + below(30));
        return text + "}";
    }

    std::string object(int depth) {
        constexpr std::array<const char*, 4> kNames = {"a", "ab", "\\u00e9", "q\\\"x"};
        std::string properties, required;
        for (const char* name : kNames) {
            if (below(3) == 0) continue;
            properties += (properties.empty() ? "\"" : ", \"") + std::string(name) + "\": " + schema(depth);
            if (below(2) == 0) required += (required.empty() ? "\"" : ", \"") + std::string(name) + "\"";
        }
        std::string text =
            R"({"type": "object", "properties": {)" + properties + R"(}, "required": [)" + required + "]";
        if (below(3) == 0) text += R"(, "additionalProperties": )" + (below(2) == 0 ? "false" : schema(0));
        return text + "}";
    }

    std::mt19937& random_;
};

}  // namespace

std::string random_schema(std::mt19937& random) {
    return SchemaWriter(random).write();
}

}  // namespace tessera::grammar
