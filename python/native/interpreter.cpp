#include "native/interpreter.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <pthread.h>
#include <unistd.h>

// Whoever wants the lock back says so first, and looks then whether the program ends. The end is told first,
// and then waits for those who had said so:
//
//     thread    ++entering;  ends? then --entering, and sleep for ever;  take the lock;  --entering
//     end       ends = true;  let go of the lock;  wait until entering = 0;  take the lock;  finish
//
// In either order of the two first steps nobody takes the lock behind the end. The waiting is short, since
// the lock is free. A callback in Python counts as entering until it returns.

namespace tessera::python {
namespace {

constexpr std::chrono::milliseconds kLook{1};
/// A callback in Python may wait for anything; the program ends all the same.
constexpr int kMostLooks = 2000;

std::atomic<bool> program_ends = false;
std::atomic<int> entering = 0;
std::atomic<std::thread::id> ending_thread;

void sleep_for_ever() {
    while (true) pause();
}

void begin_entering() {
    ++entering;
    if (!program_ends || ending_thread.load() == std::this_thread::get_id()) return;
    --entering;
    sleep_for_ever();
}

void end_program() {
    ending_thread = std::this_thread::get_id();
    program_ends = true;
    PyThreadState* state = PyEval_SaveThread();
    for (int looks = 0; entering > 0 && looks < kMostLooks; ++looks) std::this_thread::sleep_for(kLook);
    PyEval_RestoreThread(state);
}

}  // namespace

Outside::Outside() : state_(PyEval_SaveThread()) {
    if (program_ends && ending_thread.load() != std::this_thread::get_id()) sleep_for_ever();
}

Outside::~Outside() {
    begin_entering();
    PyEval_RestoreThread(state_);
    --entering;
}

Inside::Permission::Permission() {
    begin_entering();
}

Inside::Permission::~Permission() {
    --entering;
}

Inside::Inside() = default;

bool Owner::is_here() const {
    return process_ == getpid();
}

void Owner::take_over() {
    process_ = getpid();
}

void refuse_inherited(const char* thing) {
    throw Error("", thing, "was begun by the process that this one is a fork of, whose threads are not here",
                "begin it in the process that reads it", ErrorKind::kUsage);
}

void watch_interpreter() {
    // Threads that were about to enter are not in the child.
    pthread_atfork(nullptr, nullptr, [] { entering = 0; });
    py::module_::import("atexit").attr("register")(py::cpp_function(end_program));
}

}  // namespace tessera::python
