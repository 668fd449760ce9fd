// The game of life, a loop over the rows for each generation. The loops go over the same rows again and again, the case
// of an affinity partitioner.

#include "life.hpp"
#include "workers.hpp"

namespace {

workload const registered("life", [](job const& job) {
    workers const workers(job);
    life life(job);
    return measure_program(job, life, [&] {
        tbb::affinity_partitioner partitioner;
        for (std::uint64_t i = 0; i < life.generations; ++i) {
            auto const rows = [&](indices const& rows) {
                for (std::size_t y = rows.begin(); y < rows.end(); ++y) {
                    life.row(y);
                }
            };
            tbb::parallel_for(indices(0, life.side), rows, partitioner);
            life.end_generation();
        }
    });
});

}  // namespace
