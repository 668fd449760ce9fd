#pragma once

#include "loops.hpp"

// Random numbers to sort.
class random_numbers {
public:
    explicit random_numbers(job const& job) : random_(job.parameter("numbers")) {
        ::numbers numbers;
        for (auto& number : random_) {
            std::uint64_t const upper = numbers.next();
            number = upper << 32 | numbers.next();
        }
    }

    std::vector<std::uint64_t> numbers;

    void reset() {
        numbers = random_;
    }

    std::uint64_t result() const {
        check(std::is_sorted(numbers.begin(), numbers.end()), "the numbers are not sorted");
        return checksum::of(numbers);
    }

private:
    std::vector<std::uint64_t> random_;
};
