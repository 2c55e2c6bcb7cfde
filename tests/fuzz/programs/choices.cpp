#include "fuzz/programs/choices.h"

#include "support/error.h"

namespace tessera::fuzz {

int64_t Choices::below(int64_t n) {
    TESSERA_CHECK(n > 0, "{}", n);
    uint64_t number = 0;
    if (draws_)
        number = engine_();
    else if (taken_.size() < given_.size())
        number = given_[taken_.size()];
    taken_.push_back(static_cast<uint32_t>(number % static_cast<uint64_t>(n)));
    return taken_.back();
}

}  // namespace tessera::fuzz
