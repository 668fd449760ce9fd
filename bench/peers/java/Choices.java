import java.util.ArrayList;
import java.util.List;

/** The choices that lead to one possibility: each is run anew from its beginning. */
final class Choices {
    private final List<long[]> choices = new ArrayList<>();
    private int position;
    private boolean isNew;

    /** Which of the options to take now. */
    long choose(long options) {
        if (position == choices.size()) {
            choices.add(new long[] {0, options});
        }
        long option = choices.get(position)[0];
        position++;
        isNew = position >= choices.size();
        return option;
    }

    /** Whether no run has taken the option that was chosen last before. */
    boolean isNew() {
        return isNew;
    }

    /** Goes on to the next possibility; whether there is one. */
    boolean advance() {
        position = 0;
        while (!choices.isEmpty()) {
            long[] last = choices.getLast();
            if (++last[0] < last[1]) {
                return true;
            }
            choices.removeLast();
        }
        return false;
    }
}
