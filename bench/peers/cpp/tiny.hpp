#pragma once

#include "loops.hpp"

// A loop of about a microsecond.
class tiny {
public:
    explicit tiny(job const& job) : numbers(job.parameter("numbers")) {
        ::numbers random;
        for (auto& number : numbers) {
            number = random.next();
            sum_ += mixed(number);
        }
    }

    std::vector<std::uint64_t> numbers;

    // Work for some instructions, the finish of MurmurHash. Half of the bits, so that sums do not overflow.
    static std::uint64_t mixed(std::uint64_t number) {
        number = (number ^ number >> 33) * 0xff51afd7ed558ccd;
        number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53;
        return number >> 32;
    }

    // Nanoseconds for a loop, which `loop` does and whose sum it returns.
    template <typename Loop>
    measured measure(job const& job, Loop loop) const {
        auto const run = [&](std::uint64_t n) {
            stopwatch const watch;
            for (std::uint64_t i = 0; i < n; ++i) {
                check(loop() == sum_, "the sum");
            }
            return watch.elapsed();
        };
        auto result = ::measure(job, run).per_operation();
        result.checksum = sum_;
        return result;
    }

private:
    std::uint64_t sum_ = 0;
};
