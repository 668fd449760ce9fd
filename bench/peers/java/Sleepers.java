import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** Very many tasks sleep for about a second. The figure is their cost in processor time. */
final class Sleepers implements Workload {
    @Override
    public Measured measure(Job job) throws Exception {
        Measured measured = Harness.measureOnce(job, job.parameter("tasks"), Sleepers::sleep);
        return measured.figure(measured.cpuSeconds() * 1e9 / measured.operations());
    }

    private static long sleep(int tasks) throws InterruptedException {
        LongAdder total = new LongAdder();
        CountDownLatch done = new CountDownLatch(tasks);
        AtomicLong elapsed = new AtomicLong();
        Tasks.runVirtual(() -> {
            long start = System.nanoTime();
            for (int i = 0; i < tasks; i++) {
                long millis = 500 + i * 7919L % 1000;
                Tasks.startVirtual(() -> {
                    Thread.sleep(millis);
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
