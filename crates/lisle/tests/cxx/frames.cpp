// Functions of C++ between two of Rust. Each calls `call`, which waits.

#include <cxxabi.h>
#include <exception>

typedef void (*Call)();

namespace {
struct Calls {
    Call call;
    int *seen;
    ~Calls() {
        call();
        *seen = std::uncaught_exceptions();
    }
};
struct Counts {
    int *count;
    ~Counts() { ++*count; }
};
} // namespace

extern "C" {

// Waits in a handler, throws its exception on, and returns what has come.
int handles(int number, Call call) {
    try {
        try {
            throw number;
        } catch (int) {
            call();
            throw;
        }
    } catch (int same) {
        return same;
    } catch (...) {
        return -1;
    }
}

// Waits in a handler, and lets panics pass.
int handles_one(int number, Call call) {
    try {
        throw number;
    } catch (int) {
        call();
        return number;
    }
}

// Waits in a handler within a handler, and returns what both have then, as one number.
int handles_two(int number, Call call) {
    try {
        throw number;
    } catch (int) {
        int inner = handles(number + 1, call);
        try {
            throw;
        } catch (int outer) {
            return 1000 * outer + inner;
        }
    }
}

// Waits in a destructor that an exception runs. Returns how many exceptions were on their way then.
int unwinds(Call call) {
    int seen = -1;
    try {
        Calls calls{call, &seen};
        throw 1;
    } catch (int) {
        return seen;
    }
}

int on_their_way() { return std::uncaught_exceptions(); }

// The two words of the thread.
void *globals() { return abi::__cxa_get_globals(); }

int has_current() { return std::current_exception() != nullptr; }

void throws(int number) { throw number; }

int catches(Call call) {
    try {
        call();
        return 0;
    } catch (int number) {
        return number;
    }
}

void destroys(int *count, Call call) {
    Counts counts{count};
    call();
}

void swallows(Call call) {
    try {
        call();
    } catch (...) {
    }
}

void throws_on(Call call) {
    try {
        call();
    } catch (...) {
        throw;
    }
}

void is_noexcept(Call call) noexcept { call(); }

void destroys_and_is_noexcept(Call call) noexcept {
    int count = 0;
    Counts counts{&count};
    call();
}
}
