// The sums of an array up to each of its numbers, as a reduction that has a scan in it.

#include "sums.hpp"
#include "workers.hpp"

namespace {

template <typename Number>
measured scan(job const& job) {
    use_workers(job);
    scan_program<Number> program(job);
    return measure_program(job, program, [&] {
        Number const* const numbers = program.numbers.data();
        Number* const sums = program.sums.data();
        std::size_t const count = program.numbers.size();
        Number sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
        for (std::size_t i = 0; i < count; ++i) {
            sum += numbers[i];
#pragma omp scan inclusive(sum)
            sums[i] = sum;
        }
    });
}

workload const registered("scan", [](job const& job) {
    return job.variant == "u32" ? scan<std::uint32_t>(job) : scan<std::uint64_t>(job);
});

}  // namespace
