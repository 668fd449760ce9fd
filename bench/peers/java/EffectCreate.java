/** A virtual thread that computes a number, and one that waits for it. */
final class EffectCreate implements Workload {
    private long result;

    @Override
    public Measured measure(Job job) throws Exception {
        return Harness.measure(job, n -> {
            long[] elapsed = new long[1];
            Tasks.runVirtual(() -> {
                long sum = 0;
                long start = System.nanoTime();
                for (int i = 0; i < n; i++) {
                    long number = i;
                    Thread.startVirtualThread(() -> result = number + 1).join();
                    sum += result;
                }
                elapsed[0] = System.nanoTime() - start;
                Tasks.check(sum == (long) n * (n + 1) / 2, "the sum");
            });
            return elapsed[0];
        }).perOperation();
    }
}
