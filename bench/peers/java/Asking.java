import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;

/** A virtual thread that asks, and is parked until it is answered. The answering thread is parked until it asks. */
final class Asking<Q, A> {
    /** Asks, and returns the answer. */
    interface Performer<Q, A> extends Function<Q, A> {}

    /** The exception that unwinds a thread that is not answered. */
    private static final class Dropped extends RuntimeException {
        private static final long serialVersionUID = 1;

        Dropped() {
            super(null, null, false, false);
        }
    }

    private final Thread body;
    private Thread driver;
    private Q question;
    private A answer;
    private boolean asks;
    private boolean dropped;
    private volatile boolean running;

    Asking(Consumer<Performer<Q, A>> code) {
        body = Thread.ofVirtual().unstarted(() -> {
            try {
                code.accept(this::ask);
            } catch (Dropped end) {
                // It has been unwound.
            } catch (Throwable failure) {
                failure.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
            asks = false;
            running = false;
            LockSupport.unpark(driver);
        });
    }

    /** Runs {@code code} and answers all that it asks. */
    static <Q, A> void handle(Consumer<Performer<Q, A>> code, Function<Q, A> clause) {
        Asking<Q, A> handled = new Asking<>(code);
        boolean asks = handled.resume(null);
        while (asks) {
            asks = handled.resume(clause.apply(handled.question()));
        }
    }

    private A ask(Q asked) {
        question = asked;
        asks = true;
        running = false;
        LockSupport.unpark(driver);
        while (!running) {
            LockSupport.park();
        }
        if (dropped) {
            throw new Dropped();
        }
        return answer;
    }

    /** Lets it go on until it asks or ends: whether it asks. */
    boolean resume(A given) {
        answer = given;
        running = true;
        if (driver == null) {
            driver = Thread.currentThread();
            body.start();
        } else {
            driver = Thread.currentThread();
            LockSupport.unpark(body);
        }
        while (running) {
            LockSupport.park();
        }
        return asks;
    }

    /** Unwinds it where it has asked. */
    void drop() {
        dropped = true;
        resume(null);
    }

    Q question() {
        return question;
    }
}
