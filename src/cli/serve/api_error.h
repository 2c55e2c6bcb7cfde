#pragma once

#include <string>

#include "cli/serve/api.h"

namespace tessera::serve {

/// A refusal. Thrown where a request turns out to be wrong, and answered to the
/// client.
struct ApiError {
    int status = 400;  ///< of HTTP
    std::string message;
    std::string param = {};  ///< the field of the request; may be empty
    std::string code = {};   ///< may be empty
    int retry_after = 0;     ///< seconds, for the header Retry-After; 0: none
    std::string allow = {};  ///< the methods that the path takes; may be empty
};

/// The type that OpenAI's form has follows from the status.
std::string print(const ApiError& error, Api api = Api::kOpenAi);

}  // namespace tessera::serve
