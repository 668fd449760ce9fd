// A loop of about a microsecond, as a functional reduction.

#include "tiny.hpp"
#include "workers.hpp"

#include <functional>

namespace {

workload const registered("tiny", [](job const& job) {
    workers const workers(job);
    tiny const program(job);
    return program.measure(job, [&] {
        auto const add = [numbers = program.numbers.data()](indices const& range, std::uint64_t sum) {
            for (std::size_t i = range.begin(), end = range.end(); i < end; ++i) {
                sum += tiny::mixed(numbers[i]);
            }
            return sum;
        };
        indices const all(0, program.numbers.size());
        return tbb::parallel_reduce(all, std::uint64_t(0), add, std::plus<std::uint64_t>());
    });
});

}  // namespace
