#pragma once

#include "job.hpp"

#include <omp.h>

// As many threads as the job asks for, the calling one among them.
inline void use_workers(job const& job) {
    omp_set_num_threads(job.workers);
}
