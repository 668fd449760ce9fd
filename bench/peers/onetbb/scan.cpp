// The sums of an array up to each of its numbers, as a functional scan.

#include "sums.hpp"
#include "workers.hpp"

#include <functional>

namespace {

template <typename Number>
measured scan(job const& job) {
    workers const workers(job);
    scan_program<Number> program(job);
    return measure_program(job, program, [&] {
        Number const* const numbers = program.numbers.data();
        Number* const sums = program.sums.data();
        auto const add = [=](indices const& range, Number sum, bool is_final) {
            for (std::size_t i = range.begin(), end = range.end(); i < end; ++i) {
                sum += numbers[i];
                if (is_final) {
                    sums[i] = sum;
                }
            }
            return sum;
        };
        tbb::parallel_scan(indices(0, program.numbers.size()), Number(0), add, std::plus<Number>());
    });
}

workload const registered("scan", [](job const& job) {
    return job.variant == "u32" ? scan<std::uint32_t>(job) : scan<std::uint64_t>(job);
});

}  // namespace
