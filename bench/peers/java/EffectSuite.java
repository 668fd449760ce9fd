import java.util.ArrayDeque;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;

/** The programs of the effect handlers' suite, by virtual threads that ask. */
final class EffectSuite implements Workload {
    private static final Map<String, LongUnaryOperator> PROGRAMS = Map.ofEntries(
            Map.entry("chameneos", EffectSuite::chameneos),
            Map.entry("countdown", EffectSuite::countdown),
            Map.entry("fibonacci-recursive", EffectSuite::handledFibonacci),
            Map.entry("generator", EffectSuite::generator),
            Map.entry("handler-sieve", EffectSuite::sieve),
            Map.entry("iterator", EffectSuite::iterator),
            Map.entry("nqueens", EffectSearch::nqueens),
            Map.entry("parsing-dollars", EffectSuite::parsingDollars),
            Map.entry("product-early", EffectSuite::productEarly),
            Map.entry("resume-nontail", EffectSuite::resumeNontail),
            Map.entry("tree-explore", EffectSearch::treeExplore),
            Map.entry("triples", EffectSearch::triples));

    @Override
    public Measured measure(Job job) throws Exception {
        LongUnaryOperator program = PROGRAMS.get(job.variant());
        if (program == null) {
            throw job.unsupported();
        }
        int n = job.parameter("n");
        int warm = n > 100 ? n / 10 : Math.max(n - 4, 2);
        long[] result = new long[1];
        Measured measured = Harness.measureWhole(job, n, size -> {
            long start = System.nanoTime();
            Tasks.runVirtual(() -> result[0] = program.applyAsLong(size == n ? n : warm));
            return System.nanoTime() - start;
        });
        return measured.figure(measured.nanoseconds() / 1e6 / measured.operations()).checksum(result[0]);
    }

    /** Asks for the state, or sets it. */
    private record State(boolean set, long value) {}

    private static long countdown(long n) {
        long[] held = {n};
        long[] last = new long[1];
        Asking.<State, Long>handle(perform -> {
            long now = perform.apply(new State(false, 0));
            while (now != 0) {
                perform.apply(new State(true, now - 1));
                now = perform.apply(new State(false, 0));
            }
            last[0] = now;
        }, asked -> {
            if (asked.set()) {
                held[0] = asked.value();
            }
            return held[0];
        });
        return last[0];
    }

    private static long fibonacci(long n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    private static long handledFibonacci(long n) {
        long[] result = new long[1];
        Asking.<Long, Long>handle(perform -> result[0] = fibonacci(n), asked -> asked);
        return result[0];
    }

    /** Adds up all that a thread emits. */
    private static long sum(Consumer<Asking.Performer<Long, Void>> body) {
        long[] sum = new long[1];
        Asking.<Long, Void>handle(body, value -> {
            sum[0] += value;
            return null;
        });
        return sum[0];
    }

    private static long iterator(long n) {
        return sum(emit -> {
            for (long number = 0; number <= n; number++) {
                emit.apply(number);
            }
        });
    }

    /** The tree of the suite, whose halves are one and the same. */
    record Tree(Tree half, long value) {
        static Tree ofHeight(long height) {
            return height == 0 ? null : new Tree(ofHeight(height - 1), height);
        }
    }

    private static void walk(Tree tree, Asking.Performer<Long, Void> emit) {
        if (tree != null) {
            walk(tree.half(), emit);
            emit.apply(tree.value());
            walk(tree.half(), emit);
        }
    }

    private static long generator(long height) {
        Tree tree = Tree.ofHeight(height);
        return sum(emit -> walk(tree, emit));
    }

    /** {@code isPrime} asks the handler of the prime before. */
    private static long primes(long first, long n, long sum, LongPredicate isPrime) {
        long next = first;
        while (next < n && !isPrime.test(next)) {
            next++;
        }
        if (next >= n) {
            return sum;
        }
        long prime = next;
        long[] result = new long[1];
        Asking.<Long, Boolean>handle(
                perform -> result[0] = primes(prime + 1, n, sum + prime, perform::apply),
                number -> number % prime != 0 && isPrime.test(number));
        return result[0];
    }

    private static long sieve(long n) {
        long[] result = new long[1];
        Asking.<Long, Boolean>handle(perform -> result[0] = primes(2, n, 0, perform::apply), number -> true);
        return result[0];
    }

    private static long product(long[] list, int i, Asking.Performer<Long, Long> done) {
        return list[i] == 0 ? done.apply(0L) : list[i] * product(list, i + 1, done);
    }

    /** The thread asks with its result, and is unwound. */
    private static long productEarly(long n) {
        long[] list = new long[1001];
        for (int i = 0; i < list.length; i++) {
            list[i] = 1000 - i;
        }
        long[] sum = new long[1];
        for (long i = 0; i < n; i++) {
            Asking<Long, Long> handled = new Asking<>(done -> sum[0] += product(list, 0, done));
            if (handled.resume(null)) {
                sum[0] += handled.question();
                handled.drop();
            }
        }
        return sum[0];
    }

    private static final long NEWLINE = 10;
    private static final long DOLLAR = 36;

    /** Reads, or emits dollars. */
    private record Parsing(boolean emit, long dollars) {}

    private static void parse(Asking.Performer<Parsing, Long> perform) {
        long dollars = 0;
        while (true) {
            long read = perform.apply(new Parsing(false, 0));
            if (read == DOLLAR) {
                dollars++;
            } else if (read == NEWLINE) {
                perform.apply(new Parsing(true, dollars));
                dollars = 0;
            } else {
                return;
            }
        }
    }

    private static void feed(long n, Asking.Performer<Long, Void> emit) {
        Asking<Parsing, Long> handled = new Asking<>(EffectSuite::parse);
        long line = 0;
        long left = 0;
        boolean asks = handled.resume(0L);
        while (asks) {
            if (handled.question().emit()) {
                emit.apply(handled.question().dollars());
                asks = handled.resume(0L);
            } else if (line > n) {
                handled.drop();
                return;
            } else if (left == 0) {
                left = ++line;
                asks = handled.resume(NEWLINE);
            } else {
                left--;
                asks = handled.resume(DOLLAR);
            }
        }
    }

    private static long parsingDollars(long n) {
        return sum(emit -> feed(n, emit));
    }

    static long operator(long x, long y) {
        return Math.abs(x - 503 * y + 37) % 1009;
    }

    private static long answer(Asking<Long, Void> handled, long seed) {
        if (!handled.resume(null)) {
            return seed;
        }
        long x = handled.question();
        return operator(x, answer(handled, seed));
    }

    private static long resumeNontail(long n) {
        long seed = 0;
        for (int i = 0; i < 1000; i++) {
            seed = answer(new Asking<>(perform -> {
                for (long x = n; x > 0; x--) {
                    perform.apply(x);
                }
            }), seed);
        }
        return seed;
    }

    /** A colour is 0, 1 or 2; a creature meets this when there are no more meetings. */
    private static final long NOBODY = 3;

    private static final long[] COLOURS = {0, 1, 2, 1, 2, 0, 1, 2, 1, 0};

    private static long changed(long own, long other) {
        return own == other ? own : 3 - own - other;
    }

    /** A creature, and the answer that it goes on with. */
    private record Ready(Asking<Long, Long> creature, long other) {}

    private static long chameneos(long n) {
        long[] sum = new long[1];
        ArrayDeque<Ready> ready = new ArrayDeque<>();
        for (long first : COLOURS) {
            ready.add(new Ready(new Asking<>(meet -> {
                long colour = first;
                for (long other = meet.apply(colour); other != NOBODY; other = meet.apply(colour)) {
                    colour = changed(colour, other);
                    sum[0]++;
                }
            }), NOBODY));
        }
        long left = n;
        Asking<Long, Long> waiting = null;
        while (!ready.isEmpty() || waiting != null) {
            if (ready.isEmpty()) {
                left = 0;
                ready.add(new Ready(waiting, NOBODY));
                waiting = null;
            }
            Ready next = ready.poll();
            Asking<Long, Long> creature = next.creature();
            if (!creature.resume(next.other())) {
                continue;
            }
            if (left == 0) {
                ready.add(new Ready(creature, NOBODY));
            } else if (waiting == null) {
                waiting = creature;
            } else {
                left--;
                ready.add(new Ready(waiting, creature.question()));
                ready.add(new Ready(creature, waiting.question()));
                waiting = null;
            }
        }
        return sum[0];
    }
}
