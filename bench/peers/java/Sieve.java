import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The prime sieve: a chain of tasks that grows by a filter for every prime that reaches its end. */
final class Sieve implements Workload {
    @Override
    public Measured measure(Job job) throws Exception {
        Channel.Kind kind = job.channel(Channel.Kind.SYNCHRONOUS);
        Measured measured = Harness.measureWhole(job, job.parameter("primes"), primes -> sieve(primes, kind));
        return measured.figure(measured.nanoseconds() / 1e6 / measured.operations());
    }

    private static long sieve(int primes, Channel.Kind kind) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        AtomicLong elapsed = new AtomicLong();
        AtomicLong last = new AtomicLong();
        Tasks.runVirtual(() -> {
            long start = System.nanoTime();
            last.set(grow(primes, kind, threads));
            elapsed.set(System.nanoTime() - start);
        });
        // Queues have no end to close: the threads that wait at them are interrupted.
        threads.forEach(Thread::interrupt);
        Tasks.join(threads);
        Tasks.check(last.get() == nthPrime(primes), "the last prime");
        return elapsed.get();
    }

    private static long grow(int primes, Channel.Kind kind, List<Thread> threads)
            throws InterruptedException {
        Channel numbers = kind.open();
        threads.add(Tasks.startVirtual(() -> {
            for (long i = 2; ; i++) {
                numbers.send(i);
            }
        }));
        Channel tail = numbers;
        for (int count = 1; ; count++) {
            long prime = tail.receive();
            if (count == primes) {
                return prime;
            }
            Channel from = tail;
            Channel to = kind.open();
            threads.add(Tasks.startVirtual(() -> filter(prime, from, to)));
            tail = to;
        }
    }

    private static void filter(long prime, Channel from, Channel to) throws InterruptedException {
        while (true) {
            long number = from.receive();
            if (number % prime != 0) {
                to.send(number);
            }
        }
    }

    private static long nthPrime(int n) {
        List<Integer> found = new ArrayList<>();
        for (int i = 2; found.size() < n; i++) {
            int number = i;
            if (found.stream().takeWhile(p -> p * p <= number).noneMatch(p -> number % p == 0)) {
                found.add(number);
            }
        }
        return found.getLast();
    }
}
