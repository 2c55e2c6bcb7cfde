#pragma once

#include <string>
#include <vector>

#include "backend/cpp/factor_types.h"
#include "backend/cpp/value.h"
#include "lowering/kernels/call_text.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/program.h"

namespace tessera::backend::cpp {

/// The statements of one kernel as C++.
class KernelText : public kernels::CallText {
public:
    KernelText(const kernels::Spellings& spellings, FactorTypes& factors,
               ElementType arithmetic = ElementType::kF32)
        : spellings_(spellings), factors_(factors), arithmetic_(arithmetic) {}

    void body(const movement::Body& statements);
    void line(const std::string& text) override;
    const std::string& written() const { return out_; }
    /// Names of the local tiles that have been declared.
    const std::vector<std::string>& tiles() const { return tiles_; }

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
    std::string text(const movement::Index& value) const override { return text_of(value); }
    std::string address(const movement::Address& address) const override { return address_text(address); }
    std::string whole_address(const movement::Address& address) const override;
    void factor(const movement::Factor& b, int64_t lanes, const kernels::FactorForms& forms) override;
    void nested(const movement::Body& statements);

    bool is_wide() const { return arithmetic_ != ElementType::kF32; }

    const kernels::Spellings& spellings_;
    FactorTypes& factors_;
    ElementType arithmetic_;
    std::string out_;
    std::vector<std::string> tiles_;
    int depth_ = 1;
    ValueContext context_;
};

}  // namespace tessera::backend::cpp
