// Sorting, by the parallel mode of g++'s library: OpenMP itself has no sort.

#include "sort.hpp"
#include "workers.hpp"

#include <parallel/algorithm>

namespace {

workload const registered("sort", [](job const& job) {
    use_workers(job);
    random_numbers random(job);
    auto& numbers = random.numbers;
    bool const stable = job.variant == "stable";
    return measure_program(job, random, [&] {
        if (stable) {
            __gnu_parallel::stable_sort(numbers.begin(), numbers.end());
        } else {
            __gnu_parallel::sort(numbers.begin(), numbers.end());
        }
    });
});

}  // namespace
