#pragma once

// NTT, the template library under generated code (paper 000, section 3.3.2). See README.md beside this file.

#include "tessera/ntt/arithmetic.h"
#include "tessera/ntt/contract.h"
#include "tessera/ntt/contract_block_tiles.h"
#include "tessera/ntt/contract_blocks.h"
#include "tessera/ntt/contract_k.h"
#include "tessera/ntt/contract_tiles.h"
#include "tessera/ntt/fold.h"
#include "tessera/ntt/group.h"
#include "tessera/ntt/integers.h"
#include "tessera/ntt/mask.h"
#include "tessera/ntt/math.h"
#include "tessera/ntt/memory.h"
#include "tessera/ntt/softmax.h"
#include "tessera/ntt/softmax_tiles.h"
#include "tessera/ntt/tensor.h"
