import java.util.concurrent.locks.ReentrantLock;

/** A cache that all threads share, behind a lock: it keeps the entries that were used last. */
final class HeapLru implements Workload {
    /** How many times each entry is asked for on average. */
    private static final int TIMES = 2;

    private static final class Value {
        final long first;
        long second;
        long third;
        long fourth;

        Value(long first) {
            this.first = first;
        }
    }

    private static final class Entry {
        final long key;
        final Value value;
        Entry older;
        Entry newer;
        /** The next one of its bucket. */
        Entry next;

        Entry(long key, Entry next) {
            this.key = key;
            this.value = new Value(key);
            this.next = next;
        }
    }

    private static final class Cache {
        private final ReentrantLock lock = new ReentrantLock();
        private final Entry[] buckets;
        private Entry newest;
        private Entry oldest;

        Cache(int entries) {
            buckets = new Entry[entries == 1 ? 1 : Integer.highestOneBit(entries - 1) << 1];
        }

        private int bucket(long key) {
            return (int) key & (buckets.length - 1);
        }

        private void push(Entry entry) {
            entry.older = newest;
            entry.newer = null;
            if (newest == null) {
                oldest = entry;
            } else {
                newest.newer = entry;
            }
            newest = entry;
        }

        private void unlink(Entry entry) {
            if (entry.older == null) {
                oldest = entry.newer;
            } else {
                entry.older.newer = entry.newer;
            }
            if (entry.newer == null) {
                newest = entry.older;
            } else {
                entry.newer.older = entry.older;
            }
        }

        private void evict() {
            Entry last = oldest;
            unlink(last);
            int bucket = bucket(last.key);
            if (buckets[bucket] == last) {
                buckets[bucket] = last.next;
                return;
            }
            Entry before = buckets[bucket];
            while (before.next != last) {
                before = before.next;
            }
            before.next = last.next;
        }

        void insert(long key) {
            int bucket = bucket(key);
            Entry entry = new Entry(key, buckets[bucket]);
            buckets[bucket] = entry;
            push(entry);
        }

        /** The first number of the value, if the key is found, and 0. */
        long lookUp(long key) {
            lock.lock();
            try {
                Entry entry = buckets[bucket(key)];
                while (entry != null && entry.key != key) {
                    entry = entry.next;
                }
                if (entry == null) {
                    evict();
                    insert(key);
                    return 0;
                }
                if (newest != entry) {
                    unlink(entry);
                    push(entry);
                }
                return entry.value.first;
            } finally {
                lock.unlock();
            }
        }
    }

    private long sum;

    @Override
    public Measured measure(Job job) throws Exception {
        int entries = job.parameter("entries");
        Measured measured = Harness.measureOnce(job, entries, size -> run(job.workers(), size));
        long operations = TIMES * (long) entries / job.workers() * job.workers();
        Measured all = new Measured(operations, measured.nanoseconds(), measured.cpuSeconds()).perOperation();
        return job.workers() == 1 ? all.checksum(sum) : all;
    }

    /** Fills a cache of this size, and returns the nanoseconds of the look-ups. */
    private long run(int workers, int entries) throws InterruptedException {
        Cache cache = new Cache(entries);
        for (int key = 0; key < entries; key++) {
            cache.insert(key);
        }
        int each = (int) (TIMES * (long) entries / workers);
        long[] sums = new long[workers];
        Thread[] threads = new Thread[workers];
        long start = System.nanoTime();
        for (int i = 0; i < workers; i++) {
            int me = i;
            threads[me] = Thread.ofPlatform().start(() -> {
                long random = me;
                long found = 0;
                for (int asked = 0; asked < each; asked++) {
                    random = random * 6364136223846793005L + 1442695040888963407L;
                    found += cache.lookUp((random >>> 20 & 0xffffffffL) % (2L * entries));
                }
                sums[me] = found;
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long elapsed = System.nanoTime() - start;
        sum = 0;
        for (long one : sums) {
            sum += one;
        }
        return elapsed;
    }
}
