#include "backend/operators.h"

namespace tessera::backend {

const char* infix(Function function) {
    switch (function) {
        case Function::kAdd:
            return "+";
        case Function::kSub:
            return "-";
        case Function::kMul:
            return "*";
        case Function::kDivide:
            return "/";
        case Function::kLess:
            return "<";
        case Function::kLessEqual:
            return "<=";
        case Function::kGreater:
            return ">";
        case Function::kGreaterEqual:
            return ">=";
        case Function::kEqual:
            return "==";
        case Function::kNotEqual:
            return "!=";
        default:
            return nullptr;
    }
}

}  // namespace tessera::backend
