package sea.harbour;

import java.util.List;

/** A harbour. */
@Deprecated
public class Sample<T extends Comparable<T>> implements Runnable {
    private static final int LIMIT = 3;

    /**
     * Makes one.
     */
    public Sample(int depth) {
        this.depth = depth;
    }

    // Between methods.
    private int depth;

    @Override
    @SuppressWarnings({"unchecked", "raw"})
    public void run() {
        Runnable r = new Runnable() {
            public void run() { }
        };
    }

    static class Dock {
        int ships() { return 1; } int boats() { return 2; }
    }

    enum Tide { LOW, HIGH; int level() { return 1; } }
}

interface Port {
    void open(int a);

    default String name() {
        return "port";
    }
}

record Point(int x, int y) {
    Point {
        assert x > 0;
    }
}

@interface Marker {
    String value();
}
