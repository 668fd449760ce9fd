// Bodies that attract each other, a loop over them for each step, with an affinity partitioner as for `life`.

#include "nbody.hpp"
#include "workers.hpp"

namespace {

workload const registered("nbody", [](job const& job) {
    workers const workers(job);
    nbody nbody(job);
    return measure_program(job, nbody, [&] {
        tbb::affinity_partitioner partitioner;
        for (std::uint64_t i = 0; i < nbody.steps; ++i) {
            auto const bodies = [&](indices const& bodies) {
                for (std::size_t nth = bodies.begin(); nth < bodies.end(); ++nth) {
                    nbody.pull(nth);
                }
            };
            tbb::parallel_for(indices(0, nbody.count()), bodies, partitioner);
            nbody.end_step();
        }
    });
});

}  // namespace
