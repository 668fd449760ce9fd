/** A job that Java, or this program, cannot do. */
final class Unsupported extends RuntimeException {
    private static final long serialVersionUID = 1;

    Unsupported(String reason) {
        super(reason);
    }
}
