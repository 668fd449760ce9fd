import java.util.ArrayList;
import java.util.List;

/** Many virtual threads have asked. The figure is the memory that each of them takes. */
final class EffectSuspended implements Workload {
    private long sum;

    @Override
    public Measured measure(Job job) throws Exception {
        long[] grown = new long[1];
        Measured measured = Harness.measureOnce(job, job.parameter("continuations"), count -> {
            long start = System.nanoTime();
            Tasks.runVirtual(() -> grown[0] = keep(count));
            return System.nanoTime() - start;
        });
        return measured.figure((double) grown[0] / measured.operations());
    }

    private long keep(int count) throws Exception {
        List<Asking<Long, Long>> all = new ArrayList<>(count);
        sum = 0;
        long before = collectedBytes();
        for (long i = 0; i < count; i++) {
            long number = i;
            Asking<Long, Long> one = new Asking<>(perform -> {
                long answer = perform.apply(number);
                sum += answer + 1;
            });
            Tasks.check(one.resume(null), "it asks");
            all.add(one);
        }
        long after = collectedBytes();
        for (int i = 0; i < count; i++) {
            all.get(i).resume((long) i);
        }
        Tasks.check(sum == (long) count * (count + 1) / 2, "the sum of the answers");
        return after - before;
    }

    private static long collectedBytes() throws Exception {
        System.gc();
        return Harness.residentBytes();
    }
}
