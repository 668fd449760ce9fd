#pragma once

#include "job.hpp"

#include <boost/fiber/all.hpp>
#include <thread>

// As many threads as the job asks for. One is the calling thread with the default round-robin scheduler. Two
// steal work from each other and sleep when there is none. `scheduler=shared-work` is faster for one pair of
// fibers, but slower for most other work; threads that do not sleep when idle are slower by far.
class workers {
public:
    explicit workers(job const& job) {
        if (job.workers == 1) {
            return;
        }
        if (job.workers != 2) {
            throw unsupported("Boost.Fiber is measured with one worker or two");
        }
        auto const asked = job.parameters.find("scheduler");
        bool const share = asked != job.parameters.end() && asked->second == "shared-work";
        second_ = std::thread([this, share] {
            schedule(share);
            ended_.get_future().wait();
        });
        schedule(share);
    }

    ~workers() {
        if (second_.joinable()) {
            ended_.set_value();
            second_.join();
        }
    }

    workers(workers const&) = delete;
    workers& operator=(workers const&) = delete;

private:
    static void schedule(bool share) {
        namespace algo = boost::fibers::algo;
        constexpr bool sleep_when_idle = true;
        if (share) {
            boost::fibers::use_scheduling_algorithm<algo::shared_work>(sleep_when_idle);
        } else {
            boost::fibers::use_scheduling_algorithm<algo::work_stealing>(2, sleep_when_idle);
        }
    }

    boost::fibers::promise<void> ended_;
    std::thread second_;
};
