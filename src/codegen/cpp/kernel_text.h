#pragma once

#include <string>
#include <vector>

#include "codegen/cpp/factor_types.h"
#include "codegen/cpp/value.h"
#include "movement/call_text.h"
#include "movement/program.h"

namespace tessera::cpp {

/// The statements of one kernel as C++.
class KernelText : public CallText {
public:
    explicit KernelText(FactorTypes& factors) : factors_(factors) {}

    void body(const Body& statements);
    void line(const std::string& text) override;
    const std::string& text() const { return out_; }
    /// Names of the local tiles that have been declared.
    const std::vector<std::string>& tiles() const { return tiles_; }

private:
    void emit(const For& loop);
    void emit(const Let& let);
    void emit(const VectorFor& loop);
    void emit(const If& branch);
    void emit(const Store& store);
    void emit(const Declare& accumulator);
    void emit(const Accumulate& fold);
    void emit(const Call& call) { call.spell(*this); }
    void emit(const LocalTile& tile);
    void emit(const Fill& fill);
    std::string address(const Address& address) const override { return address_text(address); }
    std::string whole_address(const Address& address) const override;
    void factor(const Factor& b, int64_t lanes, const FactorForms& forms) override;
    void nested(const Body& statements);

    FactorTypes& factors_;
    std::string out_;
    std::vector<std::string> tiles_;
    int depth_ = 1;
    ValueContext context_;
};

}  // namespace tessera::cpp
