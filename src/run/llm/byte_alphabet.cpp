#include "run/llm/byte_alphabet.h"

#include <array>

#include "run/llm/utf8.h"

namespace tessera::llm {
namespace {

constexpr char32_t kFirstStandIn = 0x100;
constexpr size_t kStandIns = 68;

constexpr bool is_itself(uint32_t byte) {
    return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

struct Alphabet {
    std::array<std::string, 256> character;
    std::array<uint8_t, kStandIns> byte_of_stand_in{};
};

Alphabet make_alphabet() {
    Alphabet alphabet;
    size_t stand_ins = 0;
    for (uint32_t byte = 0; byte < 256; ++byte) {
        if (!is_itself(byte)) alphabet.byte_of_stand_in[stand_ins] = static_cast<uint8_t>(byte);
        append_utf8(alphabet.character[byte],
                    is_itself(byte) ? byte : kFirstStandIn + static_cast<char32_t>(stand_ins++));
    }
    return alphabet;
}

const Alphabet& alphabet() {
    static const Alphabet kAlphabet = make_alphabet();
    return kAlphabet;
}

}  // namespace

std::string_view alphabet_character(uint8_t byte) {
    return alphabet().character[byte];
}

void append_alphabet(std::string& out, std::string_view bytes) {
    for (const char byte : bytes) out += alphabet_character(static_cast<uint8_t>(byte));
}

std::optional<std::string> bytes_of_alphabet(std::string_view text) {
    std::string bytes;
    while (!text.empty()) {
        const Utf8Step step = first_character(text);
        if (!step.valid) return std::nullopt;
        text.remove_prefix(step.length);
        if (step.code_point < 256 && is_itself(step.code_point))
            bytes += static_cast<char>(step.code_point);
        else if (step.code_point >= kFirstStandIn && step.code_point < kFirstStandIn + kStandIns)
            bytes += static_cast<char>(alphabet().byte_of_stand_in[step.code_point - kFirstStandIn]);
        else
            return std::nullopt;
    }
    return bytes;
}

}  // namespace tessera::llm
