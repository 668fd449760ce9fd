import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;

/** One task starts another for a number, and waits for it; one at a time. */
final class SpawnJoin implements Workload {
    /** A future of its own: the executor for virtual threads makes the same and keeps a list besides. */
    @Override
    public Measured measure(Job job) throws Exception {
        return Harness.measure(job, n -> {
            AtomicLong elapsed = new AtomicLong();
            Tasks.runVirtual(() -> {
                long start = System.nanoTime();
                for (int i = 0; i < n; i++) {
                    int number = i;
                    FutureTask<Integer> task = new FutureTask<>(() -> number);
                    Thread.startVirtualThread(task);
                    Tasks.check(task.get() == i, "the number that the task returned");
                }
                elapsed.set(System.nanoTime() - start);
            });
            return elapsed.get();
        }).perOperation();
    }
}
