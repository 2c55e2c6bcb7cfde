#pragma once

// Elementary functions of F32, scalar and vector. Each is one sequence of operations whatever the number of
// lanes, with every fused multiply-add written out, so results do not depend on the lane count and nothing is
// left for the compiler to contract. Without FMA hardware (kHasFma) the same text rounds products first; the
// bounds state both.
//
// An ulp is the distance of the floats around the exact result. Coefficients: tests/ntt/minimax.py.

#include "tessera/ntt/math/erf.h"
#include "tessera/ntt/math/exp.h"
#include "tessera/ntt/math/floor_division.h"
#include "tessera/ntt/math/log.h"
#include "tessera/ntt/math/sigmoid.h"
#include "tessera/ntt/math/sqrt.h"
#include "tessera/ntt/math/tanh.h"
