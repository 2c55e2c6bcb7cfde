#pragma once

#include <exception>
#include <string>

namespace tessera {

/// The origin of the fault. It decides the exit code of the tool.
enum class ErrorKind {
    kFailure,  ///< the job failed: a bad file, an unsupported model (exit code 1)
    kUsage,    ///< the call was wrong: an unknown flag, a setting outside its range (exit code 2)
};

/// A fault of the world: a bad file, a missing tool, an unsupported model. It is thrown where it is found and
/// caught once: by the command line, or by the caller of the library. A bug of Tessera ends the program
/// instead, and an expected outcome is part of a result.
struct Error : std::exception {
    std::string where;    ///< file (with :line or @offset where known), or verb; may be empty
    std::string entity;   ///< tensor, operator, field, setting; may be empty
    std::string problem;  ///< the found and the expected value
    std::string advice;   ///< a remedy; may be empty
    ErrorKind kind = ErrorKind::kFailure;

    Error(std::string where_, std::string entity_, std::string problem_, std::string advice_ = {},
          ErrorKind kind_ = ErrorKind::kFailure);

    /// "FILE: tensor `NAME`: has shape [2], expected [3] (compare hidden_size in config.json)"
    const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

}  // namespace tessera
