// One effect: performing it, handling it, keeping a computation, and a generator.

#include "effects.hpp"
#include "mpeff.hpp"

#include <vector>

namespace {

MPE_DEFINE_EFFECT1(ask, number)
MPE_DEFINE_OP1(ask, number, long, long)
MPE_DEFINE_EFFECT1(other, nothing)
MPE_DEFINE_VOIDOP0(other, nothing)
MPE_DEFINE_EFFECT1(yields, value)
MPE_DEFINE_VOIDOP1(yields, value, long)

void* answer(mpe_resume_t* k, void* local, void* number) {
    return mpe_resume_tail(k, local, mpe_voidp_long(mpe_long_voidp(number) + 1));
}

mpe_handlerdef_t const resumes{MPE_EFFECT(ask), nullptr,
                               {{MPE_OP_SCOPED_ONCE, MPE_OPTAG(ask, number), answer},
                                {MPE_OP_NULL, mpe_op_null, nullptr}}};
mpe_handlerdef_t const in_place{MPE_EFFECT(ask), nullptr,
                                {{MPE_OP_TAIL_NOOP, MPE_OPTAG(ask, number), answer},
                                 {MPE_OP_NULL, mpe_op_null, nullptr}}};
mpe_handlerdef_t const between{MPE_EFFECT(other), nullptr,
                               {{MPE_OP_SCOPED_ONCE, MPE_OPTAG(other, nothing), answer},
                                {MPE_OP_NULL, mpe_op_null, nullptr}}};

// A run below a number of handlers of another effect, and its time.
struct asking {
    std::uint64_t between;
    std::uint64_t n;
    nanoseconds elapsed;
};

void* below(void* argument) {
    auto& all = *static_cast<asking*>(argument);
    if (all.between > 0) {
        --all.between;
        return mpe_handle(&between, nullptr, below, &all);
    }
    std::uint64_t sum = 0;
    stopwatch const watch;
    for (std::uint64_t number = 0; number < all.n; ++number) {
        sum += ask_number(number);
    }
    all.elapsed = watch.elapsed();
    check(sum == all.n * (all.n + 1) / 2, "the sum of the answers");
    return nullptr;
}

measured perform(job const& job) {
    mpe_handlerdef_t const& handler = job.variant == "resume" ? resumes : in_place;
    return measure(job, [&](std::uint64_t n) {
               asking all{job.parameter("between"), n, {}};
               mpe_handle(&handler, nullptr, below, &all);
               return all.elapsed;
           })
        .per_operation();
}

void* add(void* number) {
    return mpe_voidp_long(opaque(mpe_long_voidp(number)) + 1);
}

measured create(job const& job) {
    return measure(job, [](std::uint64_t n) {
               std::uint64_t sum = 0;
               stopwatch const watch;
               for (std::uint64_t number = 0; number < n; ++number) {
                   sum += mpe_long_voidp(mpe_handle(&resumes, nullptr, add, mpe_voidp_long(number)));
               }
               auto const elapsed = watch.elapsed();
               check(sum == n * (n + 1) / 2, "the sum");
               return elapsed;
           })
        .per_operation();
}

void* once(void* number) {
    return mpe_voidp_long(ask_number(mpe_long_voidp(number)) + 1);
}

// The result of the handler is the continuation.
void* keep(mpe_resume_t* k, void*, void*) {
    return k;
}

mpe_handlerdef_t const keeps{MPE_EFFECT(ask), nullptr,
                             {{MPE_OP_ONCE, MPE_OPTAG(ask, number), keep},
                              {MPE_OP_NULL, mpe_op_null, nullptr}}};

// How many stacks there can be at once. Each is two of the mappings that the kernel allows a process, and some are
// left for everything else.
std::uint64_t most() {
    std::uint64_t mappings = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
    return (mappings - 1'000) / 2;
}

measured suspended(job const& job) {
    return measure_suspended(std::min(job.parameter("continuations"), most()), [](std::uint64_t count) {
        std::vector<mpe_resume_t*> all(count);
        std::uint64_t const before = resident_bytes();
        for (std::uint64_t number = 0; number < count; ++number) {
            all[number] = static_cast<mpe_resume_t*>(mpe_handle(&keeps, nullptr, once, mpe_voidp_long(number)));
        }
        std::uint64_t const grown = resident_bytes() - before;
        std::uint64_t sum = 0;
        for (std::uint64_t number = 0; number < count; ++number) {
            sum += mpe_long_voidp(mpe_resume_final(all[number], nullptr, mpe_voidp_long(number)));
        }
        check(sum == count * (count + 1) / 2, "the sum of the answers");
        return grown;
    });
}

// A generator between two of its values: its continuation, and the value.
struct generator {
    mpe_resume_t* next;
    std::uint64_t value;
};

void* come_to(mpe_resume_t* k, void* local, void* value) {
    *static_cast<generator*>(local) = {k, std::uint64_t(mpe_long_voidp(value))};
    return nullptr;
}

void* come_to_the_end(void* local, void*) {
    static_cast<generator*>(local)->next = nullptr;
    return nullptr;
}

mpe_handlerdef_t const generates{MPE_EFFECT(yields), come_to_the_end,
                                 {{MPE_OP_ONCE, MPE_OPTAG(yields, value), come_to},
                                  {MPE_OP_NULL, mpe_op_null, nullptr}}};

void* walk(void* tree) {
    if (tree != nullptr) {
        auto const& at = *static_cast<node const*>(tree);
        walk(at.left.get());
        yields_value(at.value);
        walk(at.right.get());
    }
    return nullptr;
}

measured walked(job const& job) {
    return measure_generator(job, [](node const* tree) {
        generator all{};
        std::uint64_t sum = 0;
        mpe_handle(&generates, &all, walk, const_cast<node*>(tree));
        while (all.next != nullptr) {
            sum += all.value;
            mpe_resume(all.next, &all, nullptr);
        }
        return sum;
    });
}

workload const performed("effect-perform", perform);
workload const created("effect-create", create);
workload const kept("effect-suspended", suspended);
workload const generated("effect-generator", walked);

}  // namespace
