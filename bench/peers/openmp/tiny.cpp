// A loop of about a microsecond, as a reduction.

#include "tiny.hpp"
#include "workers.hpp"

namespace {

workload const registered("tiny", [](job const& job) {
    use_workers(job);
    tiny const program(job);
    return program.measure(job, [&] {
        std::uint64_t const* const numbers = program.numbers.data();
        std::size_t const count = program.numbers.size();
        std::uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (std::size_t i = 0; i < count; ++i) {
            sum += tiny::mixed(numbers[i]);
        }
        return sum;
    });
});

}  // namespace
