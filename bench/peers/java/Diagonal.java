import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;

/** The diagonal of a cube: a task for each dimension sends the square of its side, another adds them. */
final class Diagonal implements Workload {
    @Override
    public Measured measure(Job job) throws Exception {
        int dimensions = job.parameter("dimensions");
        Channel.Kind kind = job.channel(Channel.Kind.SYNCHRONOUS);
        long sum = 0;
        for (long side = 1; side <= dimensions; side++) {
            sum += side * side;
        }
        double expected = Math.sqrt(sum);
        return Harness.measure(job, n -> {
            AtomicLong elapsed = new AtomicLong();
            Tasks.runVirtual(() -> {
                long start = System.nanoTime();
                for (int i = 0; i < n; i++) {
                    Tasks.check(diagonal(dimensions, kind.open()) == expected, "the diagonal");
                }
                elapsed.set(System.nanoTime() - start);
            });
            return elapsed.get();
        }).perOperation();
    }

    private static double diagonal(int dimensions, Channel squares) throws Exception {
        FutureTask<Double> collector = new FutureTask<>(() -> {
            long sum = 0;
            for (int i = 0; i < dimensions; i++) {
                sum += squares.receive();
            }
            return Math.sqrt(sum);
        });
        Thread.startVirtualThread(collector);
        for (int i = 1; i <= dimensions; i++) {
            long side = i;
            Tasks.startVirtual(() -> squares.send(side * side));
        }
        return collector.get();
    }
}
