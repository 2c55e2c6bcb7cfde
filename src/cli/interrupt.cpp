#include "cli/interrupt.h"

#include "support/error.h"

namespace tessera::cli {
namespace {

// A handler reaches nothing else.
volatile std::sig_atomic_t interrupt_seen = 0;

void remember(int) {
    interrupt_seen = 1;
}

}  // namespace

InterruptWatch::InterruptWatch() {
    interrupt_seen = 0;
    TESSERA_CHECK(sigaction(SIGINT, nullptr, &before_) == 0);
    if (before_.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = remember;
    sigemptyset(&action.sa_mask);
    // The second signal meets the default again; writing and waiting go on after the first.
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    TESSERA_CHECK(sigaction(SIGINT, &action, nullptr) == 0);
}

InterruptWatch::~InterruptWatch() {
    sigaction(SIGINT, &before_, nullptr);
}

bool InterruptWatch::interrupted() const {
    return interrupt_seen != 0;
}

}  // namespace tessera::cli
