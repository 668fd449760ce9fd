/** A virtual thread asks, and another answers at once. */
final class EffectPerform implements Workload {
    @Override
    public Measured measure(Job job) throws Exception {
        if (!job.variant().equals("resume")) {
            throw job.unsupported();
        }
        return Harness.measure(job, n -> {
            long[] elapsed = new long[1];
            Tasks.runVirtual(() -> Asking.<Long, Long>handle(perform -> {
                long sum = 0;
                long start = System.nanoTime();
                for (long number = 0; number < n; number++) {
                    sum += perform.apply(number);
                }
                elapsed[0] = System.nanoTime() - start;
                Tasks.check(sum == (long) n * (n + 1) / 2, "the sum of the answers");
            }, number -> number + 1));
            return elapsed[0];
        }).perOperation();
    }
}
