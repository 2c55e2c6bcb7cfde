#include "lowering/movement/random_graph.h"

#include <cmath>
#include <random>

#include "lowering/movement/graph_generator.h"
#include "support/error.h"

namespace tessera::testing {

Graph Generator::some() {
    std::vector<Family> drawn;
    for (int64_t i = pick(3, 6); i > 0; --i)
        drawn.push_back(families()[static_cast<size_t>(pick(0, std::ssize(families()) - 1))]);
    return graph(drawn);
}

Graph Generator::all() {
    return graph(families());
}

Graph Generator::graph(const std::vector<Family>& body_of) {
    graph_.name = "random";
    graph_.symbols = {{"T", 1, kMostTokens, 1}};
    graph_.points = {{"decode", 1, {{"T", 1}}}, {"prefill", 1, {{"T", kMostTokens}}}};
    graph_.blocks.resize(3);
    width_ = extent();
    position_ = add_value("position", ValueKind::kInput, ElementType::kI32, {Dim("T")});
    slot_ = add_value("slot", ValueKind::kInput, ElementType::kI32, {Dim("T")});
    const ValueId x = add_value("x", ValueKind::kInput, ElementType::kF32, {Dim("T"), width_});
    table_ = constant({kSlots, width_});

    graph_.blocks[0].name = "first";
    const ValueId begin = in_block(0).add(
        "begin", op("begin(t: T, n: {})\nin X f32[t, n]\nout Y f32[t, n] = X * 0.5 + 0.1\n", width_), {x});

    Block& body = graph_.blocks[1];
    body.name = "body";
    body.repeat = pick(1, 2);
    body.carried_in = begin;
    live_ = {{begin, width_}};
    for (const Family family : body_of) (this->*family)();
    const Matrix last = any();
    ValueId update = last.value;
    if (last.width != width_) update = matmul(last, width_).value;
    body.carried_out = in_block(1).add(
        "residual",
        op("residual(t: T, n: {})\nin X f32[t, n], Z f32[t, n]\nout Y f32[t, n] = X + tanh(Z)\n", width_),
        {begin, update});

    graph_.blocks[2].name = "last";
    const ValueId end =
        in_block(2).add("end", op("end(t: T, n: {})\nin X f32[t, n]\nout Y f32[t, n] = X * 0.75\n", width_),
                        {*body.carried_out});
    graph_.outputs = {end};
    return std::move(graph_);
}

namespace {

/// Random values that the type holds: integers of its whole range, else from -1 to 1.
TensorData filled(ElementType type, std::vector<int64_t> shape, uint64_t seed) {
    TensorData data{std::move(shape), {}};
    int64_t count = 1;
    for (const int64_t extent : data.shape) count *= extent;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < count; ++i) {
        const double value = uniform(random);
        data.values.push_back(
            is_integer(type)
                ? std::floor(std::fabs(value) * static_cast<double>(range(type).high - range(type).low + 1)) +
                      static_cast<double>(range(type).low)
                : round_to(type, value));
    }
    return data;
}

}  // namespace

RandomGraph random_graph(uint64_t seed, int64_t lanes) {
    return {Generator(seed, lanes, std::nullopt).some(), seed};
}

RandomGraph graph_of_every_family(uint64_t seed, int64_t lanes, int64_t extent) {
    return {Generator(seed, lanes, extent).all(), seed};
}

GraphCall RandomGraph::call(int64_t tokens) const {
    GraphCall call;
    call.symbols = {{"T", tokens}};
    TensorData position{{tokens}, {}}, slot{{tokens}, {}};
    for (int64_t t = 0; t < tokens; ++t) {
        position.values.push_back(static_cast<double>(
            std::min<int64_t>((t * 3 + static_cast<int64_t>(seed % 5)) % kMostTokens, kMostTokens - 1)));
        slot.values.push_back(static_cast<double>((t * 7 + static_cast<int64_t>(seed % 11)) %
                                                  kSlots));  // distinct: 7 and 32 are coprime
    }
    call.inputs["position"] = std::move(position);
    call.inputs["slot"] = std::move(slot);
    call.inputs["x"] =
        filled(ElementType::kF32, {tokens, evaluate(graph[*graph.find("x")].type.shape, call.symbols)[1]},
               seed * 31 + 5);
    call.constant = [seed_of = seed](const Value& value, int64_t repetition) {
        uint64_t hash =
            seed_of * 1315423911u + static_cast<uint64_t>(value.repetitions() > 1 ? repetition : 0) * 97;
        for (const char c : value.name) hash = hash * 131 + static_cast<unsigned char>(c);
        return filled(value.type.element, evaluate(value.type.shape, {}), hash);
    };
    call.states = zero_states(graph, call.symbols);
    uint64_t state_seed = seed + 77;
    for (auto& [name, repetitions] : call.states) {
        const ElementType type = graph[*graph.find(name)].type.element;
        for (TensorData& data : repetitions) data = filled(type, data.shape, ++state_seed);
    }
    return call;
}

}  // namespace tessera::testing
