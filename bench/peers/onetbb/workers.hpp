#pragma once

#include "job.hpp"

#include <oneapi/tbb.h>

using indices = tbb::blocked_range<std::size_t>;

// As many threads as the job asks for, the calling one among them.
class workers {
public:
    explicit workers(job const& job) : limit_(tbb::global_control::max_allowed_parallelism, job.workers) {}

private:
    tbb::global_control limit_;
};
