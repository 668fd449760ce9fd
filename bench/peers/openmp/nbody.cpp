// Bodies that attract each other, a loop over them for each step.

#include "nbody.hpp"
#include "workers.hpp"

namespace {

workload const registered("nbody", [](job const& job) {
    use_workers(job);
    nbody nbody(job);
    return measure_program(job, nbody, [&] {
        for (std::uint64_t step = 0; step < nbody.steps; ++step) {
#pragma omp parallel for
            for (std::size_t i = 0; i < nbody.count(); ++i) {
                nbody.pull(i);
            }
            nbody.end_step();
        }
    });
});

}  // namespace
