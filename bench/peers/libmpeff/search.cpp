// The suite's programs that search: each possibility is run anew from its beginning.

#include "effects.hpp"
#include "mpeff.hpp"

namespace {

using number = std::uint64_t;

MPE_DEFINE_EFFECT1(choose, option)
MPE_DEFINE_OP1(choose, option, long, long)

void* take(mpe_resume_t* k, void* choices, void* options) {
    number const option = static_cast<path*>(choices)->choose(mpe_long_voidp(options)).first;
    return mpe_resume_tail(k, choices, mpe_voidp_long(option));
}

mpe_handlerdef_t const chooses{
    MPE_EFFECT(choose), nullptr, {{MPE_OP_TAIL_NOOP, MPE_OPTAG(choose, option), take}, {MPE_OP_NULL, mpe_op_null, nullptr}}};

// Runs `body` for each possibility.
void search(mpe_actionfun_t* body, void* argument) {
    path choices;
    do {
        mpe_handle(&chooses, &choices, body, argument);
    } while (choices.advance());
}

// The goal of a search, and the count found.
struct search_for {
    number n, found;
};

bool place(number n, number column, std::vector<number>& rows) {
    if (column == 0) {
        return true;
    }
    if (!place(n, column - 1, rows)) {
        return false;
    }
    number const row = choose_option(n) + 1;
    if (!is_safe(row, rows)) {
        return false;
    }
    rows.push_back(row);
    return true;
}

}  // namespace

number nqueens(number n) {
    search_for solutions{n, 0};
    auto const body = [](void* argument) -> void* {
        auto& solutions = *static_cast<search_for*>(argument);
        std::vector<number> rows;
        rows.reserve(solutions.n);
        solutions.found += place(solutions.n, solutions.n, rows);
        return nullptr;
    };
    search(body, &solutions);
    return solutions.found;
}

namespace {

// 0: none.
number choice(number n) {
    while (n > 0 && choose_option(2) != 0) {
        --n;
    }
    return n;
}

}  // namespace

number triples(number n) {
    search_for sum{n, 0};
    auto const body = [](void* argument) -> void* {
        auto& sum = *static_cast<search_for*>(argument);
        number const i = choice(sum.n);
        number const j = i == 0 ? 0 : choice(i - 1);
        number const k = j == 0 ? 0 : choice(j - 1);
        if (k != 0 && i + j + k == sum.n) {
            sum.found = (sum.found + hash(i, j, k)) % modulus;
        }
        return nullptr;
    };
    search(body, &sum);
    return sum.found;
}

namespace {

struct exploring {
    path choices;
    number state;
    halves const* tree;
};

void* turn(mpe_resume_t* k, void* local, void* value) {
    auto& all = *static_cast<exploring*>(local);
    auto const [option, is_new] = all.choices.choose(2);
    if (is_new) {
        all.state = suite_operator(all.state, mpe_long_voidp(value));
    }
    return mpe_resume_tail(k, local, mpe_voidp_long(option));
}

mpe_handlerdef_t const turns{
    MPE_EFFECT(choose), nullptr, {{MPE_OP_TAIL_NOOP, MPE_OPTAG(choose, option), turn}, {MPE_OP_NULL, mpe_op_null, nullptr}}};

number explore(halves const* tree, number const& state) {
    if (tree == nullptr) {
        return state;
    }
    choose_option(tree->value);
    return suite_operator(tree->value, explore(tree->half.get(), state));
}

}  // namespace

number tree_explore(number height) {
    auto const tree = halves::of_height(height);
    auto const body = [](void* argument) {
        auto const& all = *static_cast<exploring*>(argument);
        return mpe_voidp_long(explore(all.tree, all.state));
    };
    number state = 0;
    for (int i = 0; i < 10; ++i) {
        exploring all{{}, state, tree.get()};
        number greatest = 0;
        do {
            greatest = std::max<number>(greatest, mpe_long_voidp(mpe_handle(&turns, &all, body, &all)));
        } while (all.choices.advance());
        state = greatest;
    }
    return state;
}
