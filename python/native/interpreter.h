#pragma once

#include <unistd.h>

#include "native/convert.h"

/// The interpreter around the library: its lock, its end, and its forks.
namespace tessera::python {

/// Without the interpreter's lock, as long as it lives. A daemon thread of a program that ends must not ask
/// for the lock again: Python would end the thread by an exception that no C++ may catch, which aborts the
/// program. It therefore never comes back from here.
class Outside {
public:
    Outside();
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

private:
    PyThreadState* state_;
};

/// With the lock, as long as it lives, in a thread that is Outside. It may never begin, as above.
class Inside {
public:
    Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

private:
    class Permission {
    public:
        Permission();
        ~Permission();
        Permission(const Permission&) = delete;
        Permission& operator=(const Permission&) = delete;
    };
    Permission permission_;
    py::gil_scoped_acquire lock_;
};

/// The process that something belongs to: threads and what they have locked do not survive a fork.
class Owner {
public:
    bool is_here() const;
    void take_over();

private:
    pid_t process_ = getpid();
};

/// @throws Error for a thing that a parent of this process has begun
[[noreturn]] void refuse_inherited(const char* thing);

/// Watches the end of the program and its forks. Called once, with the lock.
void watch_interpreter();

}  // namespace tessera::python
