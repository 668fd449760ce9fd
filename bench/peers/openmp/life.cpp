// The game of life, a loop over the rows for each generation.

#include "life.hpp"
#include "workers.hpp"

namespace {

workload const registered("life", [](job const& job) {
    use_workers(job);
    life life(job);
    return measure_program(job, life, [&] {
        for (std::uint64_t step = 0; step < life.generations; ++step) {
#pragma omp parallel for
            for (std::size_t i = 0; i < life.side; ++i) {
                life.row(i);
            }
            life.end_generation();
        }
    });
});

}  // namespace
