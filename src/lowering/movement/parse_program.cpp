#include "lowering/movement/parse_program.h"

#include <algorithm>
#include <limits>

#include "lowering/movement/parse_value.h"
#include "lowering/movement/verify_program.h"
#include "support/error.h"
#include "support/limits.h"

namespace tessera::movement {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 60;

class ProgramParser {
public:
    ProgramParser(std::string_view text, const std::string& where, std::span<const CallKind* const> kinds)
        : scanner_(text, where), kinds_(kinds), values_(scanner_, names_) {}

    std::vector<Program> run() {
        std::vector<Program> programs;
        while (!scanner_.at_end()) programs.push_back(program());
        return programs;
    }

private:
    template <class Declared>
    void declare(const std::string& name, const Declared& declared) {
        if (!names_.add(declared)) scanner_.fail(name, "is declared already");
    }

    Program program() {
        Program program;
        scanner_.expect("program");
        program.specialisation = scanner_.quoted("the name of a specialisation, in quotes");
        scanner_.expect("workers");
        program.workers = scanner_.integer("the number of workers", 1, kMostWorkers);
        scanner_.expect("arena");
        program.arena_bytes = scanner_.integer("the bytes of the arena", 0, kMostBytes);
        scanner_.expect("{");
        const size_t mark = names_.enter();
        const Variable worker{kWorker, {0, program.workers - 1}};
        declare(kWorker, worker);
        while (scanner_.take("symbol")) {
            program.symbols.push_back(values_.declaration());
            declare(program.symbols.back().name, program.symbols.back());
        }
        while (!scanner_.take("}")) program.blocks.push_back(block());
        names_.leave(mark);
        return program;
    }

    ProgramBlock block() {
        ProgramBlock block;
        scanner_.expect("block");
        block.name = scanner_.quoted("the name of a block, in quotes");
        scanner_.expect("x");
        block.repeat = scanner_.integer("the number of repetitions", 1, kLargestNumber);
        scanner_.expect("{");
        while (!scanner_.take("}")) block.kernels.push_back(kernel());
        return block;
    }

    Kernel kernel() {
        Kernel kernel;
        scanner_.expect("kernel");
        kernel.name = scanner_.name("the name of a kernel");
        kernel.barrier = scanner_.take("barrier");
        kernel.alone = scanner_.take("alone");
        if (scanner_.take("in")) kernel.arithmetic = element_type();
        scanner_.expect("nest");
        kernel.comment = scanner_.quoted("a nest, in quotes");
        const size_t mark = names_.enter();
        while (!scanner_.at("{")) {
            const bool is_write = scanner_.at("writes");
            if (!scanner_.take("reads") && !scanner_.take("writes"))
                scanner_.fail_expecting("`reads`, `writes` or `{`");
            if (scanner_.peek().kind == ProgramToken::Kind::kString) {
                kernel.accesses.push_back(access(is_write));
            } else {
                kernel.buffers.push_back(buffer(is_write));
                declare(kernel.buffers.back().name, kernel.buffers.back());
            }
        }
        kernel.body = body();
        names_.leave(mark);
        return kernel;
    }

    ProgramBuffer buffer(bool is_written) {
        ProgramBuffer buffer;
        buffer.is_written = is_written;
        buffer.name = scanner_.name("a buffer");
        scanner_.expect(":");
        buffer.element = element_type();
        buffer.memory = memory_kind();
        buffer.position = scanner_.integer("a position", 0, kMostBytes);
        scanner_.expect("bytes");
        buffer.bytes = scanner_.integer("a number of bytes", 0, kMostBytes);
        if (scanner_.take("repetition")) buffer.repetition_stride = values_.index();
        if (scanner_.take("worker")) buffer.worker_stride = scanner_.integer("a stride", 1, kMostBytes);
        scanner_.expect("of");
        buffer.value = scanner_.quoted("a value, in quotes");
        return buffer;
    }

    ElementType element_type() {
        const std::string type = scanner_.name("an element type");
        const auto element = element_type_of(type);
        if (!element) scanner_.fail(type, "is no element type");
        return *element;
    }

    MemoryKind memory_kind() {
        const std::string text = scanner_.name("where the buffer lies");
        for (const MemoryKind kind : {MemoryKind::kInput, MemoryKind::kOutput, MemoryKind::kConstant,
                                      MemoryKind::kState, MemoryKind::kArena}) {
            if (text == name(kind)) return kind;
        }
        scanner_.fail(text, "is no memory: input, output, constant, state or arena");
    }

    WorkerAccess access(bool is_write) {
        WorkerAccess access;
        access.is_write = is_write;
        access.value = scanner_.quoted("a value, in quotes");
        scanner_.expect("by");
        access.node = scanner_.quoted("an operator, in quotes");
        scanner_.expect(":");
        access.by_all = scanner_.take("all");
        if (!access.by_all) scanner_.expect("each");
        while (scanner_.take(",")) {
            WorkerPart part;
            if (scanner_.take("first")) {
                part.axis = kFirstWorker;
            } else if (scanner_.take("copy")) {
                part.axis = kCopyOfWorker;
            } else {
                scanner_.expect("axis");
                part.axis = static_cast<int>(scanner_.integer("an axis", 0, 1 << 20));
            }
            scanner_.expect("in");
            part.group = scanner_.integer("a group", 0, kLargestNumber);
            access.parts.push_back(part);
        }
        return access;
    }

    Body body() {
        const ValueParser::Level level(values_);
        Body body;
        scanner_.expect("{");
        const size_t mark = names_.enter();
        while (!scanner_.take("}")) body.push_back(statement());
        names_.leave(mark);
        return body;
    }

    /// A word is a name, not a keyword, if a token follows that only follows a buffer or an accumulator.
    Statement statement() {
        if (scanner_.at("[", 1)) return {store()};
        if (is_fold(1)) return {accumulate(nullptr)};
        if (scanner_.take("for")) return {loop()};
        if (scanner_.take("lanes")) return {lanes()};
        if (scanner_.take("let")) return {let()};
        if (scanner_.take("if")) return branch();
        if (scanner_.take("declare")) return {declaration()};
        if (scanner_.take("tile")) return {tile()};
        if (scanner_.take("fill")) return {fill()};
        return {call()};
    }

    bool is_fold(int ahead) const {
        if (scanner_.at("+=", ahead) || scanner_.at("*=", ahead)) return true;
        return ahead == 1 && (scanner_.at("max", 1) || scanner_.at("min", 1)) && scanner_.at("=", 2);
    }

    Body scoped(const Variable& variable) {
        const size_t mark = names_.enter();
        declare(variable.name, variable);
        Body inner = body();
        names_.leave(mark);
        return inner;
    }

    /// Up to the number after `by`.
    template <class Loop>
    Loop loop_header() {
        Loop loop;
        loop.variable = values_.declaration();
        scanner_.expect("from");
        loop.begin = values_.index();
        scanner_.expect("to");
        loop.end = values_.index();
        scanner_.expect("by");
        return loop;
    }

    For loop() {
        For loop = loop_header<For>();
        loop.step = scanner_.integer("a step", 1, kMostBytes);
        loop.body = scoped(loop.variable);
        return loop;
    }

    VectorFor lanes() {
        VectorFor loop = loop_header<VectorFor>();
        loop.lanes = scanner_.integer("a number of lanes", 1, kMostLanes);
        loop.body = scoped(loop.variable);
        return loop;
    }

    Let let() {
        Let let;
        let.variable = values_.declaration();
        scanner_.expect("=");
        let.value = values_.index();
        declare(let.variable.name, let.variable);
        return let;
    }

    Statement branch() {
        ValuePtr condition = values_.value();
        if (scanner_.at("{")) return {If{std::move(condition), body()}};
        return {accumulate(std::move(condition))};
    }

    Accumulate accumulate(ValuePtr condition) {
        Accumulate fold;
        fold.condition = std::move(condition);
        fold.name = scanner_.name("an accumulator");
        const Declare* declared = names_.accumulator(fold.name);
        if (!declared) scanner_.fail(fold.name, "is no accumulator here");
        fold.monoid = declared->monoid;
        const auto matches = [&] {
            switch (fold.monoid) {
                case Monoid::kProd:
                    return scanner_.take("*=");
                case Monoid::kMax:
                    return scanner_.take("max") && scanner_.take("=");
                case Monoid::kMin:
                    return scanner_.take("min") && scanner_.take("=");
                default:
                    return scanner_.take("+=");
            }
        };
        if (!matches()) scanner_.fail(fold.name, fmt::format("folds by {}", name(fold.monoid)));
        fold.value = values_.value();
        return fold;
    }

    Store store() {
        Store store;
        store.to = values_.element(&store.lane_stride);
        scanner_.expect("=");
        store.value = values_.value();
        return store;
    }

    Declare declaration() {
        Declare declared;
        declared.name = scanner_.name("a name");
        if (scanner_.take("[")) {
            declared.lanes = scanner_.integer("a number of lanes", 1, kMostLanes);
            scanner_.expect("]");
        }
        scanner_.expect(":");
        const std::string text = scanner_.name("a monoid");
        declared.monoid = Monoid::kNone;
        for (const Monoid monoid : {Monoid::kSum, Monoid::kProd, Monoid::kMax, Monoid::kMin}) {
            if (name(monoid) == text) declared.monoid = monoid;
        }
        if (declared.monoid == Monoid::kNone) scanner_.fail(text, "is no monoid of an accumulator");
        declare(declared.name, declared);
        return declared;
    }

    LocalTile tile() {
        LocalTile tile;
        tile.name = scanner_.name("a name");
        scanner_.expect(":");
        tile.elements = scanner_.integer("a number of elements", 0, kMostBytes);
        declare(tile.name, tile);
        return tile;
    }

    Fill fill() {
        Fill fill;
        fill.to = values_.element(nullptr);
        scanner_.expect("times");
        fill.count = values_.index();
        scanner_.expect("=");
        fill.value = values_.number();
        return fill;
    }

    Call call() {
        const std::string place = scanner_.place();
        const std::string name = scanner_.name("a statement");
        const auto kind =
            std::find_if(kinds_.begin(), kinds_.end(), [&](const CallKind* k) { return k->name == name; });
        if (kind == kinds_.end()) scanner_.fail(name, "is neither a statement nor a call that is known");
        return {**kind, values_.record(), place};
    }

    ProgramScanner scanner_;
    std::span<const CallKind* const> kinds_;
    ProgramNames names_;
    ValueParser values_;
};

}  // namespace

std::vector<Program> parse_programs(std::string_view text, const std::string& where,
                                    std::span<const CallKind* const> kinds) {
    std::vector<Program> programs = ProgramParser(text, where, kinds).run();
    for (const Program& program : programs) expect_sound(program, where);
    return programs;
}

Program parse_program(std::string_view text, const std::string& where,
                      std::span<const CallKind* const> kinds) {
    std::vector<Program> programs = parse_programs(text, where, kinds);
    if (programs.size() != 1)
        throw Error(where, {}, fmt::format("holds {} programs, expected one", programs.size()));
    return std::move(programs.front());
}

}  // namespace tessera::movement
