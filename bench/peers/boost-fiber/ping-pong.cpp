// A number goes to a partner and comes back, over an unbuffered channel for each direction.

#include "harness.hpp"

#include <boost/fiber/all.hpp>
#include <thread>

namespace {

using channel = boost::fibers::unbuffered_channel<std::uint64_t>;

void answer(channel& there, channel& back) {
    for (auto number : there) {
        back.push(number);
    }
}

nanoseconds ask(std::uint64_t n, channel& there, channel& back) {
    stopwatch const watch;
    for (std::uint64_t i = 0; i < n; ++i) {
        there.push(i);
        check(back.value_pop() == i, "the number that came back");
    }
    nanoseconds const elapsed = watch.elapsed();
    there.close();
    return elapsed;
}

// Runs `work` in a fiber of the calling thread, and waits for it.
template <typename Work>
void in_fiber(Work work) {
    boost::fibers::fiber(work).join();
}

nanoseconds one_domain(std::uint64_t n) {
    channel there, back;
    nanoseconds elapsed;
    boost::fibers::fiber partner([&] { answer(there, back); });
    in_fiber([&] { elapsed = ask(n, there, back); });
    partner.join();
    return elapsed;
}

// Each thread has a scheduler of its own; the channels connect them.
nanoseconds two_domains(std::uint64_t n) {
    channel there, back;
    nanoseconds elapsed;
    std::thread partner([&] { in_fiber([&] { answer(there, back); }); });
    in_fiber([&] { elapsed = ask(n, there, back); });
    partner.join();
    return elapsed;
}

nanoseconds task_and_thread(std::uint64_t n) {
    channel there, back;
    std::thread partner([&] { in_fiber([&] { answer(there, back); }); });
    nanoseconds const elapsed = ask(n, there, back);
    partner.join();
    return elapsed;
}

// A thread that has no fibers of its own waits by the scheduler, too.
nanoseconds two_threads(std::uint64_t n) {
    channel there, back;
    std::thread partner([&] { answer(there, back); });
    nanoseconds const elapsed = ask(n, there, back);
    partner.join();
    return elapsed;
}

workload const registered("ping-pong", [](job const& job) {
    if (job.variant == "one-domain") {
        return measure(job, one_domain).per_operation();
    }
    if (job.variant == "two-domains") {
        return measure(job, two_domains).per_operation();
    }
    if (job.variant == "task-and-thread") {
        return measure(job, task_and_thread).per_operation();
    }
    if (job.variant == "two-threads") {
        return measure(job, two_threads).per_operation();
    }
    throw job.no_variant();
});

}  // namespace
