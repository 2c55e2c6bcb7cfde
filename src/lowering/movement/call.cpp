#include "lowering/movement/call.h"

#include "lowering/movement/call_fields.h"
#include "support/error.h"

namespace tessera::movement {

Body Call::meaning() const {
    return kind_->meaning(fields_.get());
}

bool operator==(const FieldValue& a, const FieldValue& b) {
    return a.value == b.value;
}

bool operator==(const NamedField& a, const NamedField& b) {
    return a.name == b.name && a.value == b.value;
}

bool operator==(const Call& a, const Call& b) {
    return &a.kind() == &b.kind() && a.record() == b.record();
}

namespace detail {

void refuse_field(const std::string& where, const std::string& name, const std::string& problem) {
    throw Error(where, name, problem);
}

}  // namespace detail
}  // namespace tessera::movement
