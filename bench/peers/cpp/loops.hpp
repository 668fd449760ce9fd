#pragma once

#include "harness.hpp"

#include <cstring>

// A checksum of numbers in their order: FNV-1a, on whole numbers in the place of bytes.
class checksum {
public:
    void add(std::uint64_t number) {
        sum_ = (sum_ ^ number) * 0x100000001b3;
    }

    template <typename Numbers>
    static std::uint64_t of(Numbers const& numbers) {
        checksum all;
        for (auto number : numbers) {
            all.add(number);
        }
        return all.sum_;
    }

    std::uint64_t sum() const {
        return sum_;
    }

private:
    std::uint64_t sum_ = 0xcbf29ce484222325;
};

inline std::uint64_t bits(double number) {
    std::uint64_t bits;
    static_assert(sizeof bits == sizeof number, "a double has 64 bits");
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

// Numbers that look random and are the same in every language: a linear congruence, its upper bits.
class numbers {
public:
    std::uint32_t next() {
        state_ = state_ * 6364136223846793005 + 1442695040888963407;
        return state_ >> 32;
    }

    std::uint32_t below(std::uint32_t bound) {
        return next() % bound;
    }

private:
    std::uint64_t state_ = 1;
};

// Milliseconds for a run of `program`, which `run` does: the program's input is made again before each run, and its
// result looked at after it. Warmed up by a whole run.
template <typename Program, typename Run>
measured measure_program(job const& job, Program& program, Run run) {
    measured all{0, nanoseconds{0}, 0, {}};
    auto const once = [&] {
        program.reset();
        double const cpu = cpu_seconds();
        stopwatch const watch;
        run();
        nanoseconds const elapsed = watch.elapsed();
        ++all.operations;
        all.elapsed += elapsed;
        all.cpu_seconds += cpu_seconds() - cpu;
        return program.result();
    };
    std::uint64_t const expected = once();
    all = {0, nanoseconds{0}, 0, {}, expected};
    while (all.elapsed < std::chrono::milliseconds(job.millis)) {
        check(once() == expected, "the checksum of another run");
    }
    return all.with(all.seconds() * 1e3 / all.operations);
}
