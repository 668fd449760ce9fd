// The programs of the effect handlers' suite, by libmpeff's handlers.
//
// libmpeff can resume a continuation several times, but not in every program. Where the suite resumes one twice,
// the program is run anew here, as by all systems.

#include "effects.hpp"
#include "mpeff.hpp"

#include <deque>

namespace {

using number = std::uint64_t;

// An operation that is never performed, for handlers that have no need of any.
constexpr mpe_operation_t end{MPE_OP_NULL, mpe_op_null, nullptr};

// Passes a pointer as the library has it.
template <typename T>
void* pointer(T const& to) {
    return const_cast<T*>(&to);
}

void* same(void*, void* result) {
    return result;
}

// countdown

MPE_DEFINE_EFFECT2(state, get, put)
MPE_DEFINE_OP0(state, get, long)
MPE_DEFINE_VOIDOP1(state, put, long)

void* get(mpe_resume_t* k, void* local, void*) {
    return mpe_resume_tail(k, local, local);
}

void* put(mpe_resume_t* k, void*, void* value) {
    return mpe_resume_tail(k, value, nullptr);
}

mpe_handlerdef_t const holds{
    MPE_EFFECT(state), nullptr,
    {{MPE_OP_TAIL_NOOP, MPE_OPTAG(state, get), get}, {MPE_OP_TAIL_NOOP, MPE_OPTAG(state, put), put}, end}};

void* count(void*) {
    long now = state_get();
    for (; now != 0; now = state_get()) {
        state_put(now - 1);
    }
    return mpe_voidp_long(now);
}

number countdown(number n) {
    return mpe_long_voidp(mpe_handle(&holds, mpe_voidp_long(n), count, nullptr));
}

// fibonacci-recursive

number handled_fibonacci(number n) {
    auto const body = [](void* n) { return mpe_voidp_long(fibonacci(mpe_long_voidp(n))); };
    return mpe_long_voidp(mpe_handle(&holds, nullptr, body, mpe_voidp_long(n)));
}

// iterator

MPE_DEFINE_EFFECT1(emits, value)
MPE_DEFINE_VOIDOP1(emits, value, long)

void* add(mpe_resume_t* k, void* sum, void* value) {
    return mpe_resume_tail(k, mpe_voidp_long(mpe_long_voidp(sum) + mpe_long_voidp(value)), nullptr);
}

void* sum_of_all(void* sum, void*) {
    return sum;
}

mpe_handlerdef_t const adds{
    MPE_EFFECT(emits), sum_of_all, {{MPE_OP_TAIL_NOOP, MPE_OPTAG(emits, value), add}, end}};

number iterator(number n) {
    auto const range = [](void* n) -> void* {
        for (long i = 0; i <= mpe_long_voidp(n); ++i) {
            emits_value(i);
        }
        return nullptr;
    };
    return mpe_long_voidp(mpe_handle(&adds, mpe_voidp_long(0), range, mpe_voidp_long(n)));
}

// generator

MPE_DEFINE_EFFECT1(yields, value)
MPE_DEFINE_VOIDOP1(yields, value, long)

struct values {
    mpe_resume_t* next;
    number value;
};

void* come_to(mpe_resume_t* k, void* local, void* value) {
    *static_cast<values*>(local) = {k, number(mpe_long_voidp(value))};
    return nullptr;
}

void* come_to_the_end(void* local, void*) {
    static_cast<values*>(local)->next = nullptr;
    return nullptr;
}

mpe_handlerdef_t const generates{
    MPE_EFFECT(yields), come_to_the_end, {{MPE_OP_ONCE, MPE_OPTAG(yields, value), come_to}, end}};

void* walk(void* tree) {
    if (tree != nullptr) {
        auto const& at = *static_cast<halves const*>(tree);
        walk(at.half.get());
        yields_value(at.value);
        walk(at.half.get());
    }
    return nullptr;
}

number generator(number height) {
    auto const tree = halves::of_height(height);
    values all{};
    number sum = 0;
    mpe_handle(&generates, &all, walk, tree.get());
    while (all.next != nullptr) {
        sum += all.value;
        mpe_resume(all.next, &all, nullptr);
    }
    return sum;
}

// handler-sieve

MPE_DEFINE_EFFECT1(sieve, is_prime)
MPE_DEFINE_OP1(sieve, is_prime, bool, long)

// The clause performs the effect again, for the handler outside of its own: libmpeff does that only from clauses
// that are given a continuation.
void* ask_before(mpe_resume_t* k, void* prime, void* number) {
    bool const is_prime =
        mpe_long_voidp(number) % mpe_long_voidp(prime) != 0 && sieve_is_prime(mpe_long_voidp(number));
    return mpe_resume_tail(k, prime, mpe_voidp_bool(is_prime));
}

void* yes(mpe_resume_t* k, void* local, void*) {
    return mpe_resume_tail(k, local, mpe_voidp_bool(true));
}

mpe_handlerdef_t const filters{
    MPE_EFFECT(sieve), nullptr, {{MPE_OP_SCOPED_ONCE, MPE_OPTAG(sieve, is_prime), ask_before}, end}};
mpe_handlerdef_t const agrees{
    MPE_EFFECT(sieve), nullptr, {{MPE_OP_SCOPED_ONCE, MPE_OPTAG(sieve, is_prime), yes}, end}};

struct range {
    long next, n, sum;
};

void* primes(void* argument) {
    auto& all = *static_cast<range*>(argument);
    while (all.next < all.n && !sieve_is_prime(all.next)) {
        ++all.next;
    }
    if (all.next < all.n) {
        long const prime = all.next++;
        all.sum += prime;
        mpe_handle(&filters, mpe_voidp_long(prime), primes, &all);
    }
    return nullptr;
}

number sum_of_primes(number n) {
    range all{2, long(n), 0};
    mpe_handle(&agrees, nullptr, primes, &all);
    return all.sum;
}

// product-early

MPE_DEFINE_EFFECT1(early, done)
MPE_DEFINE_VOIDOP1(early, done, long)

void* end_with(mpe_resume_t*, void*, void* result) {
    return result;
}

mpe_handlerdef_t const ends{
    MPE_EFFECT(early), nullptr, {{MPE_OP_NEVER, MPE_OPTAG(early, done), end_with}, end}};

number product_of(number const* list) {
    if (*list == 0) {
        early_done(0);
    }
    return *list * opaque(product_of(list + 1));
}

number product_early(number n) {
    auto const list = thousand();
    auto const product = [](void* list) {
        return mpe_voidp_long(product_of(static_cast<number const*>(list)));
    };
    number sum = 0;
    for (number i = 0; i < n; ++i) {
        sum += mpe_long_voidp(mpe_handle(&ends, nullptr, product, pointer(list[0])));
    }
    return sum;
}

// parsing-dollars

MPE_DEFINE_EFFECT1(reads, next)
MPE_DEFINE_OP0(reads, next, long)
MPE_DEFINE_EFFECT1(stops, here)
MPE_DEFINE_VOIDOP0(stops, here)

struct feed {
    number line, left, n;
};

void* next(mpe_resume_t* k, void* local, void*) {
    auto& at = *static_cast<feed*>(local);
    if (at.line > at.n) {
        stops_here();
    }
    if (at.left == 0) {
        at.left = ++at.line;
        return mpe_resume_tail(k, local, mpe_voidp_long(newline));
    }
    --at.left;
    return mpe_resume_tail(k, local, mpe_voidp_long(dollar));
}

void* stop(mpe_resume_t*, void*, void*) {
    return nullptr;
}

mpe_handlerdef_t const feeds{
    MPE_EFFECT(reads), same, {{MPE_OP_TAIL, MPE_OPTAG(reads, next), next}, end}};
mpe_handlerdef_t const catches{
    MPE_EFFECT(stops), nullptr, {{MPE_OP_NEVER, MPE_OPTAG(stops, here), stop}, end}};

void* parse(void*) {
    for (number dollars = 0;;) {
        long const c = reads_next();
        if (c == long(dollar)) {
            ++dollars;
        } else if (c == long(newline)) {
            emits_value(dollars);
            dollars = 0;
        } else {
            stops_here();
        }
    }
}

number parsing_dollars(number n) {
    auto const fed = [](void* at) { return mpe_handle(&feeds, at, parse, nullptr); };
    static constexpr auto feed_all = +fed;
    auto const caught = [](void* at) { return mpe_handle(&catches, nullptr, feed_all, at); };
    feed at{0, 0, n};
    return mpe_long_voidp(mpe_handle(&adds, mpe_voidp_long(0), caught, &at));
}

// resume-nontail

MPE_DEFINE_EFFECT1(applies, to)
MPE_DEFINE_VOIDOP1(applies, to, long)

void* apply(mpe_resume_t* k, void* local, void* x) {
    number const y = mpe_long_voidp(mpe_resume(k, local, nullptr));
    return mpe_voidp_long(suite_operator(mpe_long_voidp(x), y));
}

mpe_handlerdef_t const applied{
    MPE_EFFECT(applies), same, {{MPE_OP_SCOPED_ONCE, MPE_OPTAG(applies, to), apply}, end}};

struct loop {
    number n, seed;
};

number resume_nontail(number n) {
    auto const descend = [](void* argument) {
        auto const& all = *static_cast<loop*>(argument);
        for (number x = all.n; x > 0; --x) {
            applies_to(x);
        }
        return mpe_voidp_long(all.seed);
    };
    loop all{n, 0};
    for (int i = 0; i < 1000; ++i) {
        all.seed = mpe_long_voidp(mpe_handle(&applied, nullptr, descend, &all));
    }
    return all.seed;
}

// chameneos

MPE_DEFINE_EFFECT1(meets, another)
MPE_DEFINE_OP1(meets, another, long, long)

// A creature that asks: its continuation, if it has not ended, and its colour or how many it has met.
struct creature {
    mpe_resume_t* next;
    number value;
};

void* arrive(mpe_resume_t* k, void* local, void* colour) {
    *static_cast<creature*>(local) = {k, number(mpe_long_voidp(colour))};
    return nullptr;
}

void* leave(void* local, void* meetings) {
    *static_cast<creature*>(local) = {nullptr, number(mpe_long_voidp(meetings))};
    return nullptr;
}

mpe_handlerdef_t const meeting{
    MPE_EFFECT(meets), leave, {{MPE_OP_ONCE, MPE_OPTAG(meets, another), arrive}, end}};

void* live(void* colour) {
    number own = mpe_long_voidp(colour);
    number meetings = 0;
    for (number other; (other = meets_another(own)) != nobody; ++meetings) {
        own = changed(own, other);
    }
    return mpe_voidp_long(meetings);
}

number chameneos(number n) {
    creature all[std::size(colours)];
    number sum = 0;
    mall<creature*> meetings(n);
    std::deque<std::pair<creature*, number>> ready;
    auto const go_on = [&](creature* who, number other) { ready.emplace_back(who, other); };
    auto const asks_or_ends = [&](creature* who) {
        if (who->next == nullptr) {
            sum += who->value;
        } else {
            meetings.enter(who, who->value, go_on);
        }
    };
    for (std::size_t i = 0; i < std::size(colours); ++i) {
        mpe_handle(&meeting, &all[i], live, mpe_voidp_long(colours[i]));
        asks_or_ends(&all[i]);
    }
    do {
        while (!ready.empty()) {
            auto const [who, other] = ready.front();
            ready.pop_front();
            mpe_resume(who->next, who, mpe_voidp_long(other));
            asks_or_ends(who);
        }
    } while (meetings.close(go_on));
    return sum;
}

workload const registered("effect-suite", [](job const& job) {
    static suite_programs const programs{
        {"chameneos", chameneos},
        {"countdown", countdown},
        {"fibonacci-recursive", handled_fibonacci},
        {"generator", generator},
        {"handler-sieve", sum_of_primes},
        {"iterator", iterator},
        {"nqueens", nqueens},
        {"parsing-dollars", parsing_dollars},
        {"product-early", product_early},
        {"resume-nontail", resume_nontail},
        {"tree-explore", tree_explore},
        {"triples", triples},
    };
    return measure_suite(job, programs);
});

}  // namespace
