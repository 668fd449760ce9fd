import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Exchanger;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.SynchronousQueue;

/** Carries numbers between tasks. Java's queues cannot be closed: a program that needs an end sends {@link #END}. */
interface Channel {
    long END = -1;

    void send(long value) throws InterruptedException;

    long receive() throws InterruptedException;

    /** The queues of java.util.concurrent. */
    enum Kind {
        /** The documented rendezvous channel. */
        SYNCHRONOUS {
            @Override
            Channel open() {
                SynchronousQueue<Long> queue = new SynchronousQueue<>();
                return new Channel() {
                    @Override
                    public void send(long value) throws InterruptedException {
                        queue.put(value);
                    }

                    @Override
                    public long receive() throws InterruptedException {
                        return queue.take();
                    }
                };
            }
        },

        /** A queue whose {@code transfer} waits for the receiver. */
        TRANSFER {
            @Override
            Channel open() {
                LinkedTransferQueue<Long> queue = new LinkedTransferQueue<>();
                return new Channel() {
                    @Override
                    public void send(long value) throws InterruptedException {
                        queue.transfer(value);
                    }

                    @Override
                    public long receive() throws InterruptedException {
                        return queue.take();
                    }
                };
            }
        },

        /** A rendezvous of exactly one sender with one receiver. Spins before it blocks. */
        EXCHANGER {
            @Override
            Channel open() {
                Exchanger<Long> exchanger = new Exchanger<>();
                return new Channel() {
                    @Override
                    public void send(long value) throws InterruptedException {
                        exchanger.exchange(value);
                    }

                    @Override
                    public long receive() throws InterruptedException {
                        return exchanger.exchange(null);
                    }
                };
            }
        },

        /** The documented bounded buffer. */
        BUFFERED {
            @Override
            Channel open() {
                ArrayBlockingQueue<Long> queue = new ArrayBlockingQueue<>(64);
                return new Channel() {
                    @Override
                    public void send(long value) throws InterruptedException {
                        queue.put(value);
                    }

                    @Override
                    public long receive() throws InterruptedException {
                        return queue.take();
                    }
                };
            }
        };

        abstract Channel open();
    }
}
