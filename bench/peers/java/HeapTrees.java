import java.util.concurrent.atomic.AtomicLong;

/** Binary trees that are made, counted and dropped, while one lives long. */
final class HeapTrees implements Workload {
    private record Tree(Tree left, Tree right) {
        static Tree make(int depth) {
            return depth == 0 ? new Tree(null, null) : new Tree(make(depth - 1), make(depth - 1));
        }

        long count() {
            return left == null ? 1 : 1 + left.count() + right.count();
        }
    }

    @Override
    public Measured measure(Job job) throws Exception {
        int depth = job.parameter("depth");
        long[] checksum = new long[1];
        // A hundredth of the work is trees that are lower by six.
        Measured measured = Harness.measureWhole(job, 100, part -> {
            long start = System.nanoTime();
            checksum[0] = all(job.workers(), part == 100 ? depth : Math.max(depth - 6, 4));
            return System.nanoTime() - start;
        });
        return measured.figure(measured.nanoseconds() / 1e6 / measured.operations()).checksum(checksum[0]);
    }

    /** Makes and counts all trees, each thread its share of them. */
    private static long all(int workers, int depth) throws InterruptedException {
        AtomicLong total = new AtomicLong();
        Thread[] threads = new Thread[workers];
        for (int i = 0; i < workers; i++) {
            int me = i;
            threads[me] = Thread.ofPlatform().start(() -> total.addAndGet(share(me, workers, depth)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return total.get();
    }

    /** The first thread has the tree that lives long, and the last one makes the largest. */
    private static long share(int me, int workers, int depth) {
        long total = 0;
        if (me + 1 == workers) {
            total += Tree.make(depth + 1).count();
        }
        Tree longLived = me == 0 ? Tree.make(depth) : null;
        for (int shallow = 4; shallow <= depth; shallow += 4) {
            long trees = 1L << (depth - shallow + 4);
            for (long i = trees * me / workers; i < trees * (me + 1) / workers; i++) {
                total += Tree.make(shallow).count();
            }
        }
        return longLived == null ? total : total + longLived.count();
    }
}
