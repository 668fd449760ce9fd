// The Mandelbrot set, a loop over the rows of the picture. Rows take very different times, and so each thread takes the next.

#include "mandelbrot.hpp"
#include "workers.hpp"

namespace {

workload const registered("mandelbrot-loop", [](job const& job) {
    use_workers(job);
    mandelbrot mandelbrot(job);
    return measure_program(job, mandelbrot, [&] {
#pragma omp parallel for schedule(dynamic)
        for (std::size_t y = 0; y < mandelbrot.height; ++y) {
            mandelbrot.row(y);
        }
    });
});

}  // namespace
