// The sum of very many numbers, as a functional reduction.

#include "sums.hpp"
#include "workers.hpp"

#include <functional>
#include <numeric>

namespace {

template <typename Number>
measured sum(job const& job) {
    workers const workers(job);
    sum_program<Number> program(job);
    return measure_program(job, program, [&] {
        auto const& numbers = program.numbers;
        auto const add = [&](indices const& range, Number sum) {
            return std::accumulate(&numbers[range.begin()], numbers.data() + range.end(), sum);
        };
        program.sum = tbb::parallel_reduce(indices(0, numbers.size()), Number(0), add, std::plus<Number>());
    });
}

workload const registered("sum", [](job const& job) {
    return job.variant == "u64" ? sum<std::uint64_t>(job) : sum<double>(job);
});

}  // namespace
