// Tasks of unequal length, which put their results where they are found when all have ended.

#include "jobs.hpp"
#include "workers.hpp"

namespace {

workload const registered("jobs", [](job const& job) {
    use_workers(job);
    tasks program(job);
    return measure_program(job, program, [&] {
        tasks* const all = &program;
#pragma omp parallel
#pragma omp single
        for (std::size_t nth = 0; nth < all->all.size(); ++nth) {
#pragma omp task firstprivate(nth)
            all->compute(nth);
        }
    });
});

}  // namespace
