// One effect: asking, beginning and ending, and keeping a coroutine.

#include "asking.hpp"
#include "effects.hpp"

#include <boost/context/fixedsize_stack.hpp>
#include <boost/coroutine2/coroutine.hpp>
#include <functional>

namespace {

// Asks `n` times: each number comes back with one added.
template <typename Perform>
nanoseconds ask(std::uint64_t n, Perform perform) {
    std::uint64_t sum = 0;
    stopwatch const watch;
    for (std::uint64_t number = 0; number < n; ++number) {
        sum += perform(number);
    }
    auto const elapsed = watch.elapsed();
    check(sum == n * (n + 1) / 2, "the sum of the answers");
    return elapsed;
}

// Below this many coroutines that do not know the answer.
nanoseconds below(std::uint64_t between, std::uint64_t n, std::function<std::uint64_t(std::uint64_t)> const& perform) {
    if (between == 0) {
        return ask(n, perform);
    }
    nanoseconds elapsed{0};
    handle<std::uint64_t, std::uint64_t>(
        stacks(),
        [&](auto& inner) {
            elapsed = below(between - 1, n, [&](std::uint64_t number) { return inner.ask(number); });
        },
        perform);
    return elapsed;
}

measured perform(job const& job) {
    if (job.variant != "resume") {
        throw job.no_variant();
    }
    std::uint64_t const between = job.parameter("between");
    return measure(job, [&](std::uint64_t n) {
               nanoseconds elapsed{0};
               handle<std::uint64_t, std::uint64_t>(
                   stacks(),
                   [&](auto& handled) {
                       auto const perform = [&](std::uint64_t number) { return handled.ask(number); };
                       elapsed = between == 0 ? ask(n, perform) : below(between, n, perform);
                   },
                   [](std::uint64_t number) { return number + 1; });
               return elapsed;
           })
        .per_operation();
}

measured create(job const& job) {
    return measure(job, [](std::uint64_t n) {
               std::uint64_t sum = 0;
               stopwatch const watch;
               for (std::uint64_t number = 0; number < n; ++number) {
                   handle<std::uint64_t, std::uint64_t>(
                       stacks(), [&](auto&) { sum += opaque(number) + 1; },
                       [](std::uint64_t asked) { return asked; });
               }
               auto const elapsed = watch.elapsed();
               check(sum == n * (n + 1) / 2, "the sum");
               return elapsed;
           })
        .per_operation();
}

struct once {
    std::uint64_t number;
    std::uint64_t* sum;
    void operator()(asking<std::uint64_t, std::uint64_t, once>& handled) {
        *sum += handled.ask(number) + 1;
    }
};

measured suspended(job const& job) {
    return measure_suspended(job.parameter("continuations"), [](std::uint64_t count) {
        using one = asking<std::uint64_t, std::uint64_t, once>;
        std::vector<std::unique_ptr<one>> all;
        std::uint64_t sum = 0;
        std::uint64_t const before = resident_bytes();
        for (std::uint64_t number = 0; number < count; ++number) {
            boost::context::fixedsize_stack small(16 * 1024);
            all.emplace_back(new one(small, once{number, &sum}));
            check(all.back()->resume(0), "it asks");
        }
        std::uint64_t const grown = resident_bytes() - before;
        for (std::uint64_t number = 0; number < count; ++number) {
            check(!all[number]->resume(number), "it asks once");
        }
        check(sum == count * (count + 1) / 2, "the sum of the answers");
        return grown;
    });
}

using generator = boost::coroutines2::coroutine<std::uint64_t>;

void walk(node const* tree, generator::push_type& values) {
    if (tree != nullptr) {
        walk(tree->left.get(), values);
        values(tree->value);
        walk(tree->right.get(), values);
    }
}

measured walked(job const& job) {
    return measure_generator(job, [](node const* tree) {
        generator::pull_type values([&](generator::push_type& out) { walk(tree, out); });
        std::uint64_t sum = 0;
        for (std::uint64_t value : values) {
            sum += value;
        }
        return sum;
    });
}

workload const performed("effect-perform", perform);
workload const created("effect-create", create);
workload const kept("effect-suspended", suspended);
workload const generated("effect-generator", walked);

}  // namespace
