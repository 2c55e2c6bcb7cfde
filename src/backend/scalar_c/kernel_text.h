#pragma once

#include <string>

#include "backend/scalar_c/value_text.h"
#include "movement/program.h"

namespace tessera::backend::scalar_c {

/// The statements of one kernel as C. Statements of a loop over lanes are loops over the lanes of a group
/// each, one after the other, as the interpreter of programs executes them.
class KernelText {
public:
    void body(const movement::Body& statements);
    void line(const std::string& text);
    const std::string& written() const { return out_; }

private:
    void emit(const movement::For& loop);
    void emit(const movement::Let& let);
    void emit(const movement::VectorFor& loop);
    void emit(const movement::If& branch);
    void emit(const movement::Store& store);
    void emit(const movement::Declare& accumulator);
    void emit(const movement::Accumulate& fold);
    void emit(const movement::Call& call);
    void emit(const movement::LocalTile& tile);
    void emit(const movement::Fill& fill);
    void nested(const movement::Body& statements);
    /// The head of a loop over the valid lanes of the group, or over all lanes of an accumulator outside of
    /// one.
    std::string over_lanes(int64_t lanes) const;

    std::string out_;
    int depth_ = 1;
    std::string valid_;  ///< lanes of the group, in one
    ValueContext context_;
};

}  // namespace tessera::backend::scalar_c
