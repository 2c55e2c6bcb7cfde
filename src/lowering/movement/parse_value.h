#pragma once

#include <optional>
#include <string>

#include "lowering/movement/program.h"
#include "lowering/movement/program_names.h"
#include "lowering/movement/program_scanner.h"

namespace tessera::movement {

/// The parts of a program's text below statements.
class ValueParser {
public:
    ValueParser(ProgramScanner& scanner, ProgramNames& names) : scanner_(scanner), names_(names) {}

    Index index();
    /// "t: 0..63 multiple 16"; not yet known by its name.
    Variable declaration();
    Address element(int64_t* stride);  ///< null: lanes have no place here
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
    int64_t lane_stride();  ///< "; 2"; 0 where none is stated
    ValuePtr in_parentheses();
    ValuePtr guarded(Load load);
    ValuePtr function(const std::string& name);
    std::optional<Number> number_literal();

    ProgramScanner& scanner_;
    ProgramNames& names_;
    int depth_ = 0;
    int index_tokens_ = 0;
};

}  // namespace tessera::movement
