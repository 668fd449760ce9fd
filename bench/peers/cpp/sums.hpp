#pragma once

#include "loops.hpp"

// Numbers to add up. They are whole, and so a sum of floats is the same in whichever order.
template <typename Number>
class sum_program {
public:
    explicit sum_program(job const& job) : numbers(job.parameter("numbers")) {
        ::numbers random;
        for (auto& number : numbers) {
            number = random.below(1 << 20);
        }
    }

    std::vector<Number> numbers;
    Number sum = 0;

    void reset() {}

    std::uint64_t result() const {
        return sum;
    }
};

// Numbers whose sums up to each are wanted. The sum of all is below 2^32.
template <typename Number>
class scan_program {
public:
    explicit scan_program(job const& job) : numbers(job.parameter("numbers")), sums(numbers.size()) {
        ::numbers random;
        for (auto& number : numbers) {
            number = random.below(64);
        }
    }

    std::vector<Number> numbers, sums;

    void reset() {}

    std::uint64_t result() const {
        return checksum::of(sums);
    }
};
