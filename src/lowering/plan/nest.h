#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor_type.h"
#include "lowering/plan/leaf.h"
#include "nest/nest.h"

/// The loop structure of one kernel as a document: a tiling expression.
///
///     b:1 g:1 i:8 { gather[loops x=e]; s:16 { scores[contract m=i n=s k=e]; attend[stream] };
///     normalise[loops x=d] }
///
/// `x:8` is a loop in steps of 8 over iterator x of the nest's *root*, its last operator; iterators that no
/// loop names stay whole inside the operators. The other operators of a nest are producers: the part of each
/// that the operators after it read in one tile is computed at this place, so a kernel is a fusion group and
/// the place of an operator is where it is fused. `name[kernel key=value ...]` is an operator with its
/// micro-kernel.
///
/// `n:512@worker` in front of all other loops divides the kernel: the tile that starts at 512 i belongs to
/// worker i mod workers, which computes it and no other.
///
///     b:1 g:1 { s:64@worker { scores[contract ..]; attend[stream ..] } }
///
/// A loop with `@worker` over a reduction of the kernel's last operator may stand at any place and divides
/// the reduction: each worker leaves parts, which `attend[combine ..]` in a later kernel folds.
namespace tessera::plan {

using nest::kOpenTile;
using LoopTile = nest::Loop<std::string>;
using Nest = nest::Nest<std::string, Leaf>;

/// The nest whose loops divide the work between the workers, this one or one inside; null if there is none.
const Nest* divided_nest(const Nest& nest);
/// The first of the loops that divide a nest between the workers; null if there is none.
const LoopTile* divided_loop(const Nest& nest);
/// All operators, in the order of execution.
std::vector<const Leaf*> leaves(const Nest& nest);

std::string print(const Nest& nest);
/// Reads the notation of nest/nest_text.h; braces that say nothing are left out.
/// @throws Error for text that is not a tiling expression, with its position, for a micro-kernel that is not
/// among these, an unknown parameter, or a number out of range.
Nest parse_nest(std::string_view text, const std::string& where, MicroKernels kernels);

/// The same for a nest that leaves some choices open: the size in `x:?`, and the micro-kernel of an operator
/// without brackets, which is `open_micro_kernel`.
Nest parse_open_nest(std::string_view text, const std::string& where, MicroKernels kernels);
const MicroKernel& open_micro_kernel();

/// `load X as lanes <0:16>`, a move into a tile: a copy of what the operators behind it in its braces read of
/// X in one trip. The plan makes it an operator, and the copy a value (CopyPlan).
struct Load {
    std::string of;      ///< the value X
    std::string copy;    ///< the name of the copy
    Layout layout = {};  ///< row-major without `as`
    std::string node() const { return "copy_" + copy; }
    bool operator==(const Load&) const = default;
};
using NestWithLoads = nest::Nest<std::string, Leaf, Load>;

/// The same for an open nest with loads. `loads` counts them, which tells their copies apart.
NestWithLoads parse_nest_with_loads(std::string_view text, const std::string& where, MicroKernels kernels,
                                    int64_t& loads);
/// The operators alone.
Nest without_loads(const NestWithLoads& nest);
/// The nest with an operator for each load, whose micro-kernel is open.
Nest with_copies(const NestWithLoads& nest);

}  // namespace tessera::plan
