import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Two tasks on one carrier yield to each other. */
final class Yield implements Workload {
    @Override
    public Measured measure(Job job) throws Exception {
        return Harness.measure(job, n -> {
            CountDownLatch begin = new CountDownLatch(1);
            List<Thread> threads = List.of(startYielding(n / 2, begin), startYielding(n - n / 2, begin));
            long start = System.nanoTime();
            begin.countDown();
            Tasks.join(threads);
            return System.nanoTime() - start;
        }).perOperation();
    }

    private static Thread startYielding(int times, CountDownLatch begin) {
        return Tasks.startVirtual(() -> {
            begin.await();
            for (int i = 0; i < times; i++) {
                Thread.yield();
            }
        });
    }
}
