#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "lowering/movement/factor.h"

/// Calls of micro-kernels. Each kind of call is a plain struct with a list of its fields (call_fields.h);
/// programs hold any of them as one immutable value, so that printing, parsing, verifying, interpreting and
/// emitting a program name no call.
namespace tessera::movement {

struct Statement;
using Body = std::vector<Statement>;

struct FieldValue;
struct NamedField;
/// The fields of a call in their order; optional ones that are empty are left out.
using FieldRecord = std::vector<NamedField>;

struct FieldValue {
    std::variant<bool, int64_t, ElementType, Index, Address, StridedFactor, ComputedFactor,
                 std::vector<FieldValue>, FieldRecord>
        value;
};
struct NamedField {
    std::string name;
    FieldValue value;
};
bool operator==(const FieldValue& a, const FieldValue& b);
bool operator==(const NamedField& a, const NamedField& b);

/// The operations of a kind of call. `fields` is a struct of the kind.
struct CallKind {
    const char* name;
    FieldRecord (*defaults)();
    FieldRecord (*record)(const void* fields);
    /// Fields that the record does not name have their defaults. @throws Error for a record of another form,
    /// and where there is a problem.
    std::shared_ptr<const void> (*made_of)(const FieldRecord& record, const std::string& where);
    /// Why the fields have no meaning; empty if they have.
    std::string (*problem)(const void* fields);
    /// The call's computation in plain statements, its only definition. Its own variables have names that no
    /// program can have.
    Body (*meaning)(const void* fields);
};

/// One call of a micro-kernel.
class Call {
public:
    template <class Fields>
    requires requires { Fields::kFields; }
    Call(Fields fields)  // NOLINT: every struct of fields is a call
        : kind_(&Fields::kind()), fields_(std::make_shared<const Fields>(std::move(fields))) {}
    /// @throws Error as CallKind::made_of
    Call(const CallKind& kind, const FieldRecord& record, const std::string& where)
        : kind_(&kind), fields_(kind.made_of(record, where)) {}

    const CallKind& kind() const { return *kind_; }
    FieldRecord record() const { return kind_->record(fields_.get()); }
    std::string problem() const { return kind_->problem(fields_.get()); }
    /// @pre there is no problem
    Body meaning() const;
    /// Null if it is of another kind.
    template <class Fields>
    const Fields* as() const {
        return kind_ == &Fields::kind() ? static_cast<const Fields*>(fields_.get()) : nullptr;
    }

private:
    const CallKind* kind_;
    std::shared_ptr<const void> fields_;
};
bool operator==(const Call& a, const Call& b);

}  // namespace tessera::movement
