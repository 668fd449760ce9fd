import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The suite's programs that search: each possibility is run anew from its beginning. */
final class EffectSearch {
    private EffectSearch() {}

    /** Runs {@code body} for each possibility. */
    private static void search(Consumer<Asking.Performer<Long, Long>> body) {
        Choices choices = new Choices();
        do {
            Asking.<Long, Long>handle(body, choices::choose);
        } while (choices.advance());
    }

    private static boolean isSafe(long row, List<Long> before) {
        for (int columns = 1; columns <= before.size(); columns++) {
            long other = before.get(before.size() - columns);
            if (row == other || Math.abs(row - other) == columns) {
                return false;
            }
        }
        return true;
    }

    private static boolean place(long n, long column, List<Long> rows, Asking.Performer<Long, Long> pick) {
        if (column == 0) {
            return true;
        }
        if (!place(n, column - 1, rows, pick)) {
            return false;
        }
        long row = pick.apply(n) + 1;
        boolean safe = isSafe(row, rows);
        rows.add(row);
        return safe;
    }

    static long nqueens(long n) {
        long[] solutions = new long[1];
        search(pick -> {
            if (place(n, n, new ArrayList<>(), pick)) {
                solutions[0]++;
            }
        });
        return solutions[0];
    }

    /** 0: none. */
    private static long choice(long first, Asking.Performer<Long, Long> flip) {
        long n = first;
        while (n > 0 && flip.apply(2L) != 0) {
            n--;
        }
        return n;
    }

    static long triples(long n) {
        long modulus = 1_000_000_007;
        long[] sum = new long[1];
        search(flip -> {
            long i = choice(n, flip);
            long j = choice(i - 1, flip);
            long k = choice(j - 1, flip);
            if (k > 0 && i + j + k == n) {
                sum[0] = (sum[0] + (53 * i + 2809 * j + 148877 * k) % modulus) % modulus;
            }
        });
        return sum[0];
    }

    private static long explore(EffectSuite.Tree tree, long[] state, Asking.Performer<Long, Long> turn) {
        if (tree == null) {
            return state[0];
        }
        turn.apply(tree.value());
        return EffectSuite.operator(tree.value(), explore(tree.half(), state, turn));
    }

    static long treeExplore(long height) {
        EffectSuite.Tree tree = EffectSuite.Tree.ofHeight(height);
        long[] state = new long[1];
        for (int i = 0; i < 10; i++) {
            Choices choices = new Choices();
            long[] greatest = new long[1];
            do {
                Asking.<Long, Long>handle(
                        turn -> greatest[0] = Math.max(greatest[0], explore(tree, state, turn)),
                        value -> {
                            long option = choices.choose(2);
                            if (choices.isNew()) {
                                state[0] = EffectSuite.operator(state[0], value);
                            }
                            return option;
                        });
            } while (choices.advance());
            state[0] = greatest[0];
        }
        return state[0];
    }
}
