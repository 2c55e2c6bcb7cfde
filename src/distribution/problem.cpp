#include "distribution/problem.h"

namespace tessera::distribution {

int64_t Value::bits() const {
    int64_t elements = 1;
    for (const int64_t extent : shape) elements *= extent;
    return elements * tessera::bits(type);
}

}  // namespace tessera::distribution
