#include "plan/leaf_parameters.h"

#include <charconv>

namespace tessera {

int iterator_of(const Definition& definition, const Leaf& leaf, const std::string& parameter) {
    const auto at = leaf.parameters.find(parameter);
    return at == leaf.parameters.end() ? -1 : definition.iterator(at->second);
}

std::map<std::string, int64_t> numbers(const Leaf& leaf) {
    std::map<std::string, int64_t> result;
    for (const auto& [name, text] : leaf.parameters) {
        int64_t value = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        if (read.ec == std::errc() && read.ptr == text.data() + text.size()) result[name] = value;
    }
    return result;
}

}  // namespace tessera
