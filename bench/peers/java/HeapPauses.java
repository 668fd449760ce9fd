import java.util.List;
import java.util.concurrent.CyclicBarrier;

/** Threads make garbage and replace objects of large tables; the time of each step is counted. */
final class HeapPauses implements Workload {
    /** The bytes of an object of the tables, with what a heap adds. */
    private static final long NODE = 56;

    private static final class Node {
        Node left;
        Node right;
        long first;
        long second;
        long third;
        long fourth;

        Node(Node left) {
            this.left = left;
        }
    }

    private record Link(long number, Link next) {}

    /** How many steps took how long. A range of times is an eighth of a power of two; below 16 ns each time is one. */
    private static final class Steps {
        final long[] counts = new long[512];
        long longest;

        void add(long nanos) {
            int shift = Math.max(60 - Long.numberOfLeadingZeros(nanos | 1), 0);
            counts[(shift << 3) + (int) (nanos >>> shift)]++;
            longest = Math.max(longest, nanos);
        }

        void add(Steps other) {
            for (int i = 0; i < counts.length; i++) {
                counts[i] += other.counts[i];
            }
            longest = Math.max(longest, other.longest);
        }

        long number() {
            long sum = 0;
            for (long count : counts) {
                sum += count;
            }
            return sum;
        }

        /** How long this part of the steps took at most: the end of a range. */
        double micros(double part) {
            long enough = (long) Math.ceil(number() * part);
            long seen = 0;
            int range = -1;
            while (seen < enough) {
                seen += counts[++range];
            }
            int shift = Math.max((range >> 3) - 1, 0);
            long end = ((long) (range - (shift << 3)) << shift) + ((1L << shift) - 1);
            return Math.min(end, longest) / 1e3;
        }
    }

    /** The last garbage of each thread, so that the compiler does not leave it out. */
    private static final Link[] KEPT = new Link[1024];

    @Override
    public Measured measure(Job job) throws Exception {
        int workers = job.workers();
        long length = job.parameter("millis") * 1_000_000L;
        int size = (int) (((long) job.parameter("mib") << 20) / NODE / workers);
        // What is compiled is compiled before the tables are there.
        run(workers, Math.min(size, 1000), length / 4, new Steps());
        Steps steps = new Steps();
        double cpu = run(workers, size, length, steps);
        return new Measured(steps.number(), length, cpu).figures(List.of(
                new Measured.Figure("p99", steps.micros(0.99), null),
                new Measured.Figure("p99.99", steps.micros(0.9999), null),
                new Measured.Figure("p99.9999", steps.micros(0.999999), null),
                new Measured.Figure("longest", steps.longest / 1e3, null),
                new Measured.Figure("steps", steps.number() * 1e3 / length, null)));
    }

    /** Returns the processor time, from when all tables are there. */
    private static double run(int workers, int size, long length, Steps sum) throws Exception {
        double[] cpu = new double[1];
        CyclicBarrier begin = new CyclicBarrier(workers, () -> cpu[0] = Harness.cpuSeconds());
        Steps[] all = new Steps[workers];
        Thread[] threads = new Thread[workers];
        for (int i = 0; i < workers; i++) {
            int me = i;
            threads[me] = Thread.ofPlatform().start(() -> {
                Node[] table = new Node[size];
                for (int at = 0; at < size; at++) {
                    table[at] = new Node(null);
                }
                try {
                    begin.await();
                } catch (Exception broken) {
                    throw new IllegalStateException(broken);
                }
                all[me] = replaceForAWhile(me, table, length);
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (Steps one : all) {
            sum.add(one);
        }
        return Harness.cpuSeconds() - cpu[0];
    }

    private static Steps replaceForAWhile(int me, Node[] table, long length) {
        Steps steps = new Steps();
        long random = 88_172_645_463_325_252L + me;
        long start = System.nanoTime();
        long before = start;
        while (before - start < length) {
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            Link list = null;
            for (long number = 0; number < 20; number++) {
                list = new Link(number, list);
            }
            KEPT[me] = list;
            if (random % 8 == 0) {
                int to = (int) ((random >>> 20) % table.length);
                int from = (int) ((random >>> 40) % table.length);
                table[to] = new Node(table[from]);
                table[from] = null;
            }
            long now = System.nanoTime();
            steps.add(now - before);
            before = now;
        }
        return steps;
    }
}
