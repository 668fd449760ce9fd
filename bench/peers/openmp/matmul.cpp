// The product of two matrices, a loop over the rows.

#include "matmul.hpp"
#include "workers.hpp"

namespace {

workload const registered("matmul", [](job const& job) {
    use_workers(job);
    matmul matmul(job);
    return measure_program(job, matmul, [&] {
#pragma omp parallel for
        for (std::size_t y = 0; y < matmul.side; ++y) {
            matmul.row(y);
        }
    });
});

}  // namespace
