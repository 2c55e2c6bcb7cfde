#pragma once

#include <vector>

namespace tessera::machine {

/// The processors that this process may use, as the operating system numbers them, in the order in which
/// workers take them: one of each physical core, then the second ones of cores with several (hyperthreads),
/// and so on. At most as many as the control group's quota allows, at least one.
std::vector<int> worker_processors();

}  // namespace tessera::machine
