import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** One task starts very many, then waits for all of them. */
final class SpawnBurst implements Workload {
    @Override
    public Measured measure(Job job) throws Exception {
        int tasks = job.parameter("tasks");
        Measured measured = Harness.measureWhole(job, tasks, SpawnBurst::burst);
        long spawned = measured.operations() * tasks;
        return new Measured(spawned, measured.nanoseconds(), measured.cpuSeconds()).perOperation();
    }

    /** A latch, since a join for each thread, or an executor's list of them, costs more. */
    private static long burst(int tasks) throws InterruptedException {
        LongAdder total = new LongAdder();
        CountDownLatch done = new CountDownLatch(tasks);
        AtomicLong elapsed = new AtomicLong();
        Tasks.runVirtual(() -> {
            long start = System.nanoTime();
            for (int i = 0; i < tasks; i++) {
                Thread.startVirtualThread(() -> {
                    total.increment();
                    done.countDown();
                });
            }
            done.await();
            elapsed.set(System.nanoTime() - start);
        });
        Tasks.check(total.sum() == tasks, "the number of tasks");
        return elapsed.get();
    }
}
