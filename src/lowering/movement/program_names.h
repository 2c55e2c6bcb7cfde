#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "lowering/movement/program.h"

namespace tessera::movement {

/// The meanings of names at one place of a program: a name has one meaning as long as it is in scope.
class ProgramNames {
public:
    /// A buffer of the kernel or a local tile.
    struct Storage {
        ElementType element = ElementType::kF32;
        bool is_written = true;
        int64_t bytes = 0;  ///< that one worker may touch in one repetition, at the most
    };

    /// Names declared after `enter` are unknown again after `leave`.
    size_t enter() const { return declared_.size(); }
    void leave(size_t mark);
    /// True if the name is new.
    bool add(const Variable& variable) { return add(variable.name, Meaning(variable)); }
    bool add(const Declare& accumulator) { return add(accumulator.name, Meaning(accumulator)); }
    bool add(const LocalTile& tile);
    bool add(const ProgramBuffer& buffer);

    /// Null if the name means nothing, or something else.
    const Variable* variable(const std::string& name) const { return find<Variable>(name); }
    const Declare* accumulator(const std::string& name) const { return find<Declare>(name); }
    const Storage* storage(const std::string& name) const { return find<Storage>(name); }

private:
    using Meaning = std::variant<Variable, Declare, Storage>;
    template <class T>
    const T* find(const std::string& name) const {
        const auto at = meanings_.find(name);
        return at == meanings_.end() ? nullptr : std::get_if<T>(&at->second);
    }
    bool add(const std::string& name, Meaning meaning);

    std::map<std::string, Meaning> meanings_;
    std::vector<std::string> declared_;
};

}  // namespace tessera::movement
