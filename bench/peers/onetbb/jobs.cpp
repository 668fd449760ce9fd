// Tasks of unequal length, which put their results where they are found when all have ended.

#include "jobs.hpp"
#include "workers.hpp"

namespace {

workload const registered("jobs", [](job const& job) {
    workers const workers(job);
    tasks program(job);
    return measure_program(job, program, [&] {
        tbb::task_group group;
        for (std::size_t nth = 0; nth < program.all.size(); ++nth) {
            group.run([&program, nth] { program.compute(nth); });
        }
        group.wait();
    });
});

}  // namespace
