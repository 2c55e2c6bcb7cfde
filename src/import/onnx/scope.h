#pragma once

#include <map>
#include <set>
#include <string>

#include "import/onnx/operand.h"

namespace tessera::import::onnx {

/// Values by name; those of a body see the ones around it.
class Scope {
public:
    explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}

    const Operand* find(const std::string& name) const {
        const auto found = values_.find(name);
        if (found != values_.end()) return &found->second;
        return outer_ ? outer_->find(name) : nullptr;
    }
    bool is_missing(const std::string& name) const {
        return missing_.contains(name) || (outer_ && outer_->is_missing(name));
    }
    void set(const std::string& name, Operand operand) { values_[name] = std::move(operand); }
    /// A node that is not supported would make it.
    void miss(const std::string& name) { missing_.insert(name); }

private:
    const Scope* outer_;
    std::map<std::string, Operand> values_;
    std::set<std::string> missing_;
};

}  // namespace tessera::import::onnx
