// The sum of very many numbers, as a reduction.

#include "sums.hpp"
#include "workers.hpp"

namespace {

template <typename Number>
measured sum(job const& job) {
    use_workers(job);
    sum_program<Number> program(job);
    return measure_program(job, program, [&] {
        Number const* const numbers = program.numbers.data();
        std::size_t const count = program.numbers.size();
        Number sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (std::size_t i = 0; i < count; ++i) {
            sum += numbers[i];
        }
        program.sum = sum;
    });
}

workload const registered("sum", [](job const& job) {
    return job.variant == "u64" ? sum<std::uint64_t>(job) : sum<double>(job);
});

}  // namespace
