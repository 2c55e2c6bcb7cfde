#pragma once

#include <cstddef>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "run/jinja/limits.h"
#include "run/jinja/value.h"

namespace tessera::jinja {

/// A position, counted from 1; a column counts bytes.
struct Position {
    int row = 1;
    int column = 1;
    bool operator==(const Position&) const = default;
};

/// @throws Error at a position of the file.
[[noreturn]] void fail_at(const std::string& where, Position position, std::string problem,
                          std::string advice = {});

/// The state of one rendering: its limits, the place for errors, and the objects that it can change.
class Context {
public:
    Context(std::string where, const Limits& limits, std::function<std::tm()> now)
        : where_(std::move(where)), limits_(limits), now_(std::move(now)) {}
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// Sets the node that errors blame.
    void set_position(Position position) { position_ = position; }
    Position position() const { return position_; }
    [[noreturn]] void fail(std::string problem, std::string advice = {}) const;

    /// Counts work. @throws Error beyond the limit
    void step(int64_t count = 1);
    /// Counts bytes of a new value, and the work for it. @throws Error beyond the limit
    void allocate(size_t bytes);
    void output(size_t bytes);
    /// Counts a new text, and returns it as a value.
    Value make(Text text);
    Value make(std::vector<Value> items, List::Kind kind = List::Kind::kList);
    Value make_dict(std::vector<std::pair<Value, Value>> items);
    /// A function of a value, or one of the template if `self` is none.
    Value make_callable(std::string name, const Value& self, std::function<Value(Context&, Arguments)> call);
    /// @throws Error if a value is deeper than the limit
    void check_depth(int64_t depth) const;

    /// Counts one level of nesting while it lives.
    class Level {
    public:
        explicit Level(Context& context);
        ~Level() { --context_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

    private:
        Context& context_;
    };

    /// Empties the object when the rendering ends: it may contain itself.
    void adopt(std::shared_ptr<Mutable> object) { mutables_.push_back(std::move(object)); }

    const std::function<std::tm()>& now() const { return now_; }

private:
    std::string where_;
    Limits limits_;
    std::function<std::tm()> now_;
    Position position_;
    int64_t steps_ = 0;
    int64_t allocated_ = 0;
    int64_t output_ = 0;
    int64_t depth_ = 0;
    std::vector<std::shared_ptr<Mutable>> mutables_;
};

/// The memory of one value inside a list, for Context::allocate.
inline constexpr size_t kValueBytes = sizeof(Value);

}  // namespace tessera::jinja
