#include "run/jinja/context.h"

#include "support/error.h"

namespace tessera::jinja {

void fail_at(const std::string& where, Position position, std::string problem, std::string advice) {
    throw Error(fmt::format("{}:{}:{}", where, position.row, position.column), "", std::move(problem),
                std::move(advice));
}

Context::~Context() {
    for (const auto& object : mutables_) object->clear();
}

void Context::fail(std::string problem, std::string advice) const {
    fail_at(where_, position_, std::move(problem), std::move(advice));
}

void Context::step(int64_t count) {
    steps_ += count;
    if (steps_ > limits_.steps) fail(fmt::format("the template takes more than {} steps", limits_.steps));
}

void Context::allocate(size_t bytes) {
    allocated_ += static_cast<int64_t>(bytes);
    if (allocated_ > limits_.allocated_bytes)
        fail(fmt::format("the template makes values of more than {} bytes", limits_.allocated_bytes));
    step(static_cast<int64_t>(bytes / 64));
}

void Context::output(size_t bytes) {
    output_ += static_cast<int64_t>(bytes);
    if (output_ > limits_.output_bytes)
        fail(fmt::format("the rendered text has more than {} bytes", limits_.output_bytes));
}

Value Context::make(Text text) {
    allocate(text.size() + text.foreign().size() * sizeof(ByteRange) + kValueBytes);
    return Value::of(std::move(text));
}

Value Context::make(std::vector<Value> items, List::Kind kind) {
    allocate((items.size() + 1) * kValueBytes);
    Value list = Value::list(std::move(items), kind);
    check_depth(depth(list));
    return list;
}

Value Context::make_dict(std::vector<std::pair<Value, Value>> items) {
    allocate((2 * items.size() + 1) * kValueBytes);
    Value dict = Value::dict(std::move(items));
    check_depth(depth(dict));
    return dict;
}

Value Context::make_callable(std::string name, const Value& self,
                             std::function<Value(Context&, Arguments)> call) {
    allocate(sizeof(Callable));
    return Value(std::make_shared<const Callable>(
        Callable{std::move(name), std::move(call), tessera::jinja::depth(self)}));
}

void Context::check_depth(int64_t depth) const {
    if (depth > limits_.depth) fail(fmt::format("values are more than {} levels deep", limits_.depth));
}

Context::Level::Level(Context& context) : context_(context) {
    if (++context.depth_ > context.limits_.nesting) {
        --context.depth_;
        context.fail("the template calls itself too often");
    }
}

}  // namespace tessera::jinja
