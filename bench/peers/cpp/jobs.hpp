#pragma once

#include "loops.hpp"

// Tasks of unequal length.
class tasks {
public:
    struct task {
        std::uint64_t number;
        std::uint64_t steps;
    };

    explicit tasks(job const& job) : all(job.parameter("jobs")), results(all.size()) {
        std::uint32_t const steps = job.parameter("steps");
        numbers random;
        for (auto& task : all) {
            task.number = random.next();
            task.steps = steps / 2 + random.below(steps + 1);
        }
    }

    std::vector<task> all;
    std::vector<std::uint64_t> results;

    // Each step waits for the one before.
    void compute(std::size_t nth) {
        std::uint64_t number = all[nth].number;
        for (std::uint64_t step = 0; step < all[nth].steps; ++step) {
            number = (number ^ number >> 33) * 0xff51afd7ed558ccd;
        }
        results[nth] = number;
    }

    void reset() {}

    std::uint64_t result() const {
        return checksum::of(results);
    }
};
