#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "movement/program.h"
#include "movement/program_scanner.h"

namespace tessera {

/// What names mean at one place of a program.
class ProgramNames {
public:
    struct Accumulator {
        Monoid monoid;
    };
    /// What is declared until `leave` is unknown behind it.
    size_t enter() const { return declared_.size(); }
    void leave(size_t mark);
    /// Whether the name is new.
    bool add(const Variable& variable);
    bool add(const std::string& buffer, ElementType element);
    bool add(const std::string& accumulator, Monoid monoid);

    const Variable* variable(const std::string& name) const;
    const ElementType* buffer(const std::string& name) const;
    const Monoid* accumulator(const std::string& name) const;

private:
    using Meaning = std::variant<Variable, ElementType, Monoid>;
    template <class T>
    const T* find(const std::string& name) const;
    bool add(const std::string& name, Meaning meaning);

    std::map<std::string, Meaning> meanings_;
    std::vector<std::string> declared_;
};

/// The parts of a program's text below statements.
class ValueParser {
public:
    ValueParser(ProgramScanner& scanner, ProgramNames& names) : scanner_(scanner), names_(names) {}

    Index index();
    /// "t: 0..63 multiple 16"; not yet known by its name.
    Variable declaration();
    Address element(int64_t* lane_stride);
    ValuePtr value();
    double number();
    FieldValue field();
    FieldRecord record();

    /// Counts one level of nesting as long as it lives. @throws Error beyond the deepest.
    class Level {
    public:
        explicit Level(ValueParser& parser);
        ~Level() { --parser_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

    private:
        ValueParser& parser_;
    };

private:
    Index sum();
    Index term();
    Index factor();
    ValuePtr in_parentheses();
    ValuePtr guarded(Load load);
    ValuePtr function(const std::string& name);
    std::optional<Number> number_literal();

    ProgramScanner& scanner_;
    ProgramNames& names_;
    int depth_ = 0;
    int index_tokens_ = 0;
};

}  // namespace tessera
