#pragma once

#include "job.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <time.h>
#include <vector>

using nanoseconds = std::chrono::nanoseconds;

struct figure {
    std::string name;
    double value;
    double p99 = NAN;
};

// A run that was long enough, and its figures.
struct measured {
    std::uint64_t operations;
    nanoseconds elapsed;
    double cpu_seconds;
    std::vector<figure> figures;
    // The runner compares it with the other systems' results, if it is there.
    std::optional<std::uint64_t> checksum = {};

    double seconds() const {
        return std::chrono::duration<double>(elapsed).count();
    }

    measured with(std::vector<figure> values) const {
        return {operations, elapsed, cpu_seconds, std::move(values), checksum};
    }

    measured with(double value) const {
        return with(std::vector<figure>{{"", value}});
    }

    measured per_operation() const {
        return with(seconds() * 1e9 / operations);
    }

    // How many a second, where an operation stands for `each`.
    measured per_second(std::uint64_t each) const {
        return with(operations * each / seconds());
    }
};

// The workloads; each file of one adds it before `main` begins.
class workload {
public:
    using function = measured (*)(job const&);

    workload(char const* name, function measure) {
        all().emplace(name, measure);
    }

    static std::map<std::string, function>& all() {
        static std::map<std::string, function> workloads;
        return workloads;
    }
};

inline void check(bool right, char const* what) {
    if (!right) {
        throw std::logic_error(std::string("wrong result: ") + what);
    }
}

class stopwatch {
public:
    nanoseconds elapsed() const {
        return std::chrono::steady_clock::now() - start_;
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// User and system time of the whole process.
inline double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

// A field that the kernel gives in kilobytes.
inline std::uint64_t kernel_bytes(char const* path, std::string const& field) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.compare(0, field.size(), field) == 0) {
            return std::stoull(line.substr(field.size())) * 1024;
        }
    }
    throw std::runtime_error(path + (" has no " + field));
}

inline std::uint64_t resident_bytes() {
    return kernel_bytes("/proc/self/status", "VmRSS:");
}

inline std::uint64_t peak_resident_bytes() {
    return kernel_bytes("/proc/self/status", "VmHWM:");
}

// `run(n)` does the work `n` times, checks the result and returns how long the work alone took. Warms up with
// short runs, then measures one that lasts as long as asked.
template <typename Run>
measured measure(job const& job, Run run) {
    nanoseconds const target = std::chrono::milliseconds(job.millis);
    nanoseconds const probe = std::min<nanoseconds>(target / 20, std::chrono::milliseconds(10));
    std::uint64_t n = 1;
    nanoseconds elapsed = run(n);
    while (elapsed < probe) {
        n *= 4;
        elapsed = run(n);
    }
    while (true) {
        double const times = 1.1 * target.count() / elapsed.count();
        n = std::max<std::uint64_t>(std::ceil(n * times), 1);
        double const cpu = cpu_seconds();
        elapsed = run(n);
        if (elapsed >= 0.9 * target) {
            return {n, elapsed, cpu_seconds() - cpu, {}};
        }
    }
}

// For work of a given size: a small one to warm up, then all of it until the time asked is over. An operation
// is one repetition.
template <typename Run>
measured measure_whole(job const& job, std::uint64_t size, Run run) {
    run(std::max<std::uint64_t>(size / 100, 1));
    double const cpu = cpu_seconds();
    std::uint64_t times = 0;
    nanoseconds elapsed{0};
    for (; elapsed < std::chrono::milliseconds(job.millis); ++times) {
        elapsed += run(size);
    }
    return {times, elapsed, cpu_seconds() - cpu, {}};
}

// For work of a given size that need not be repeated. Each of its `size` parts is an operation.
template <typename Run>
measured measure_once(std::uint64_t size, Run run) {
    run(std::max<std::uint64_t>(size / 100, 1));
    double const cpu = cpu_seconds();
    nanoseconds const elapsed = run(size);
    return {size, elapsed, cpu_seconds() - cpu, {}};
}
