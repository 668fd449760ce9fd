#pragma once

#include "loops.hpp"

#include <utility>

inline std::uint64_t serial_fib(std::uint64_t n) {
    return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2);
}

inline std::uint64_t cut_off(job const& job) {
    return job.variant == "cut-off" ? job.parameter("cut-off") : 0;
}

// Milliseconds for a number that `fib` computes. Warmed up with a tenth of the work.
template <typename Fib>
measured measure_fib(job const& job, Fib fib) {
    std::uint64_t const n = job.parameter("n");
    auto const number = [](std::uint64_t n) {
        std::uint64_t own = 0, next = 1;
        for (; n > 0; --n) {
            own = std::exchange(next, own + next);
        }
        return own;
    };
    check(fib(n - 5) == number(n - 5), "the number of the warm-up");
    measured all{0, nanoseconds{0}, 0, {}, number(n)};
    double const cpu = cpu_seconds();
    stopwatch const watch;
    do {
        check(fib(n) == number(n), "the number");
        ++all.operations;
        all.elapsed = watch.elapsed();
    } while (all.elapsed < std::chrono::milliseconds(job.millis));
    all.cpu_seconds = cpu_seconds() - cpu;
    return all.with(all.seconds() * 1e3 / all.operations);
}
