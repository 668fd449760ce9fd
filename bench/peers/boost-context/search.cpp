// The suite's programs that search: each possibility is run anew from its beginning.

#include "asking.hpp"
#include "effects.hpp"

namespace {

using number = std::uint64_t;

// Runs `body` for each possibility.
template <typename Body>
void search(Body body) {
    path choices;
    do {
        handle<number, number>(stacks(), body, [&](number options) { return choices.choose(options).first; });
    } while (choices.advance());
}

template <typename Handled>
bool place(number n, number column, std::vector<number>& rows, Handled& handled) {
    if (column == 0) {
        return true;
    }
    if (!place(n, column - 1, rows, handled)) {
        return false;
    }
    number const row = handled.ask(n) + 1;
    if (!is_safe(row, rows)) {
        return false;
    }
    rows.push_back(row);
    return true;
}

}  // namespace

number nqueens(number n) {
    number solutions = 0;
    search([&](auto& handled) {
        std::vector<number> rows;
        rows.reserve(n);
        solutions += place(n, n, rows, handled);
    });
    return solutions;
}

namespace {

// 0: none.
template <typename Handled>
number choice(number n, Handled& handled) {
    while (n > 0 && handled.ask(2) != 0) {
        --n;
    }
    return n;
}

}  // namespace

number triples(number n) {
    number sum = 0;
    search([&](auto& handled) {
        number const i = choice(n, handled);
        number const j = i == 0 ? 0 : choice(i - 1, handled);
        number const k = j == 0 ? 0 : choice(j - 1, handled);
        if (k != 0 && i + j + k == n) {
            sum = (sum + hash(i, j, k)) % modulus;
        }
    });
    return sum;
}

namespace {

template <typename Handled>
number explore(halves const* tree, number const& state, Handled& handled) {
    if (tree == nullptr) {
        return state;
    }
    handled.ask(tree->value);
    return suite_operator(tree->value, explore(tree->half.get(), state, handled));
}

}  // namespace

number tree_explore(number height) {
    auto const tree = halves::of_height(height);
    number state = 0;
    for (int i = 0; i < 10; ++i) {
        path choices;
        number greatest = 0;
        do {
            handle<number, number>(
                stacks(),
                [&](auto& handled) {
                    greatest = std::max(greatest, explore(tree.get(), state, handled));
                },
                [&](number value) {
                    auto const [option, is_new] = choices.choose(2);
                    if (is_new) {
                        state = suite_operator(state, value);
                    }
                    return option;
                });
        } while (choices.advance());
        state = greatest;
    }
    return state;
}
