// The programs of the effect handlers' suite, by coroutines that ask.

#include "asking.hpp"
#include "effects.hpp"

#include <deque>
#include <functional>

namespace {

using number = std::uint64_t;

// State is asked for by `get`, or else set.
struct state {
    bool get;
    number value;
};

number countdown(number n) {
    number held = n;
    number last = n;
    handle<state, number>(
        stacks(),
        [&](auto& handled) {
            for (last = handled.ask({true, 0}); last != 0; last = handled.ask({true, 0})) {
                handled.ask({false, last - 1});
            }
        },
        [&](state const& asked) {
            if (!asked.get) {
                held = asked.value;
            }
            return held;
        });
    return last;
}

number handled_fibonacci(number n) {
    number result = 0;
    handle<bool, bool>(stacks(), [&](auto&) { result = fibonacci(n); }, [](bool asked) { return asked; });
    return result;
}

number iterator(number n) {
    number sum = 0;
    handle<number, bool>(
        stacks(),
        [&](auto& handled) {
            for (number i = 0; i <= n; ++i) {
                handled.ask(i);
            }
        },
        [&](number i) {
            sum += i;
            return true;
        });
    return sum;
}

template <typename Handled>
void walk(halves const* tree, Handled& handled) {
    if (tree != nullptr) {
        walk(tree->half.get(), handled);
        handled.ask(tree->value);
        walk(tree->half.get(), handled);
    }
}

number generator(number height) {
    auto const tree = halves::of_height(height);
    number sum = 0;
    handle<number, bool>(
        stacks(), [&](auto& handled) { walk(tree.get(), handled); },
        [&](number value) {
            sum += value;
            return true;
        });
    return sum;
}

// `is_prime` asks the handler of the prime before.
number primes(number next, number n, number sum, std::function<bool(number)> const& is_prime) {
    while (next < n && !is_prime(next)) {
        ++next;
    }
    if (next >= n) {
        return sum;
    }
    number result = 0;
    handle<number, bool>(
        stacks(),
        [&](auto& handled) {
            result = primes(next + 1, n, sum + next, [&](number i) { return handled.ask(i); });
        },
        [&](number i) { return i % next != 0 && is_prime(i); });
    return result;
}

number sieve(number n) {
    number result = 0;
    handle<number, bool>(
        stacks(),
        [&](auto& handled) { result = primes(2, n, 0, [&](number i) { return handled.ask(i); }); },
        [](number) { return true; });
    return result;
}

template <typename Handled>
number product(number const* list, Handled& handled) {
    return *list == 0 ? handled.ask(0) : *list * opaque(product(list + 1, handled));
}

struct multiply {
    number const* list;
    number result;
    void operator()(asking<number, number, multiply>& handled) {
        result = product(list, handled);
    }
};

// The coroutine asks with its result, and is unwound.
number product_early(number n) {
    auto const list = thousand();
    number sum = 0;
    for (number i = 0; i < n; ++i) {
        asking<number, number, multiply> handled(stacks(), multiply{list.data(), 0});
        if (handled.resume(0)) {
            sum += handled.question();
        }
    }
    return sum;
}

struct parsing {
    bool read;
    number dollars;
};

struct parse {
    void operator()(asking<parsing, number, parse>& handled) {
        for (number dollars = 0;;) {
            number const c = handled.ask({true, 0});
            if (c == dollar) {
                ++dollars;
            } else if (c == newline) {
                handled.ask({false, dollars});
                dollars = 0;
            } else {
                return;
            }
        }
    }
};

template <typename Emit>
void feed(number n, Emit emit) {
    number line = 0;
    number left = 0;
    asking<parsing, number, parse> handled(stacks(), parse{});
    for (bool asks = handled.resume(0); asks;) {
        if (!handled.question().read) {
            emit(handled.question().dollars);
            asks = handled.resume(0);
        } else if (line > n) {
            return;
        } else if (left == 0) {
            left = ++line;
            asks = handled.resume(newline);
        } else {
            --left;
            asks = handled.resume(dollar);
        }
    }
}

number parsing_dollars(number n) {
    number sum = 0;
    handle<number, bool>(
        stacks(), [&](auto& handled) { feed(n, [&](number dollars) { handled.ask(dollars); }); },
        [&](number dollars) {
            sum += dollars;
            return true;
        });
    return sum;
}

template <typename Handled>
number answer(Handled& handled, number seed) {
    if (!handled.resume(true)) {
        return seed;
    }
    number const x = handled.question();
    return suite_operator(x, answer(handled, seed));
}

struct descend {
    number n;
    void operator()(asking<number, bool, descend>& handled) {
        for (number x = n; x > 0; --x) {
            handled.ask(x);
        }
    }
};

number resume_nontail(number n) {
    number seed = 0;
    for (int i = 0; i < 1000; ++i) {
        asking<number, bool, descend> handled(stacks(), descend{n});
        seed = answer(handled, seed);
    }
    return seed;
}

struct creature {
    number colour;
    number* sum;
    void operator()(asking<number, number, creature>& handled) {
        number other;
        while ((other = handled.ask(colour)) != nobody) {
            colour = changed(colour, other);
            ++*sum;
        }
    }
};

number chameneos(number n) {
    using one = asking<number, number, creature>;
    number sum = 0;
    std::vector<std::unique_ptr<one>> all;
    std::deque<std::pair<one*, number>> ready;
    auto const go_on = [&](one* who, number other) { ready.emplace_back(who, other); };
    for (number colour : colours) {
        all.emplace_back(new one(stacks(), creature{colour, &sum}));
        go_on(all.back().get(), nobody);
    }
    mall<one*> meetings(n);
    do {
        while (!ready.empty()) {
            auto const [who, other] = ready.front();
            ready.pop_front();
            if (who->resume(other)) {
                meetings.enter(who, who->question(), go_on);
            }
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
        {"handler-sieve", sieve},
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
