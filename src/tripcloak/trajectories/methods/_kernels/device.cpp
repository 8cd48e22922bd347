// Loops of k-merge and k-scale for a GPU: one thread a task. Compiled as plain C++ the same source does the same on a
// host, one thread after the other, and tests hold that to the compiled loops in merging.py and kscale.py.
//
// As there, boundary b lies after the first b samples in order of time, so that a run (i, j] holds samples i to j - 1.
// A person's samples stand at begin[person], as many as length[person]. What a thread notes on its way stands in
// columns that all threads share: entry e of thread h is at e * THREADS + h, so that threads in step touch
// neighbouring words. Numbers must be those of the host to the last bit, so products and sums are not contracted
// (--fmad=false, -ffp-contract=off).

typedef long long wide;

#ifdef __CUDACC__
#define KERNEL extern "C" __global__ void
#define INNER __device__ __forceinline__
#define THREAD (wide(blockIdx.x) * blockDim.x + threadIdx.x)
#define THREADS (wide(gridDim.x) * blockDim.x)
#else
#define KERNEL extern "C" void
#define INNER inline
static wide host_thread = 0, host_threads = 1;
KERNEL be_thread(wide thread, wide threads) { host_thread = thread, host_threads = threads; }
#define THREAD host_thread
#define THREADS host_threads
#endif

#define INFINITE 1.7976931348623157e308
#define NEVER 2147483647
#define DEEPEST 64

INNER double least(double a, double b) { return b < a ? b : a; }
INNER double most(double a, double b) { return b > a ? b : a; }
INNER int lower(int a, int b) { return b < a ? b : a; }
INNER int upper(int a, int b) { return b > a ? b : a; }
INNER double apart(double a, double b) { return a < b ? b - a : a - b; }

// ---- columns of notes ------------------------------------------------------------------------------------------

template <class T> struct Column {
    T *first;
    wide stride;
    INNER T &operator[](wide entry) const { return first[entry * stride]; }
};

// The nth column of so many entries among those of one kind.
template <class T> INNER Column<T> column(T *notes, int nth, wide entries) {
    Column<T> made = {notes + wide(nth) * entries * THREADS + THREAD, THREADS};
    return made;
}

struct Samples {
    const int *t, *x, *y;
    const wide *begin;
    const int *length;
};

// What the programme notes at every sample and boundary of a merge.
struct Room {
    Column<int> t, x, y, reach, queue, back, held;
    Column<double> cost, own;
};

// The driver makes room for as many columns: 5 of whole numbers and 1 of doubles, 7 and 1 with backs, 6 and 2 with owns.
INNER Room room_of(int *ints, double *doubles, wide entries, bool backs, bool owns) {
    Room at;
    at.t = column(ints, 0, entries);
    at.x = column(ints, 1, entries);
    at.y = column(ints, 2, entries);
    at.reach = column(ints, 3, entries);
    at.queue = column(ints, 4, entries);
    at.held = column(ints, backs || owns ? 5 : 4, entries);
    at.back = column(ints, backs ? 6 : 4, entries);
    at.cost = column(doubles, 0, entries);
    at.own = column(doubles, owns ? 1 : 0, entries);
    return at;
}

// ---- samples of several people, one after the other in time ------------------------------------------------------

struct Pair {
    Samples of;
    wide a, a_end, b, b_end;
    int time_a, time_b, last_a, last_b;
    bool first;

    INNER void lay(const Samples &samples, wide one, wide other) {
        of = samples;
        a = of.begin[one], a_end = a + of.length[one];
        b = of.begin[other], b_end = b + of.length[other];
        time_a = of.t[a], time_b = of.t[b];
        last_a = last_b = -1;
    }
    INNER int size() const { return int(a_end - a + b_end - b); }
    INNER int time() const { return lower(time_a, time_b); }
    INNER wide take() {
        first = time_a <= time_b;
        if (first) {
            wide s = a++;
            time_a = a < a_end ? of.t[a] : NEVER;
            return s;
        }
        wide s = b++;
        time_b = b < b_end ? of.t[b] : NEVER;
        return s;
    }
    INNER void mark(int instant) { first ? last_a = instant : last_b = instant; }
    INNER int reach() const { return lower(last_a, last_b); }
    INNER bool of_first() const { return first; }
};

// Any number of people; who comes next is found by a look at all of them.
struct Crowd {
    Samples of;
    Column<wide> at, end;
    Column<int> times, last;
    int members, total, next, taken, next_time, least_last;

    INNER void begin(const Samples &samples, wide *wides, int *ints, wide most_members) {
        of = samples;
        at = column(wides, 0, most_members), end = column(wides, 1, most_members);
        times = column(ints, 0, most_members), last = column(ints, 1, most_members);
        members = total = 0;
    }
    INNER void add(wide person) {
        wide first = of.begin[person];
        at[members] = first, end[members] = first + of.length[person];
        times[members] = of.t[first], last[members] = -1;
        total += of.length[person];
        members++;
    }
    INNER void look() {
        next_time = NEVER, least_last = NEVER, next = 0;
        for (int m = 0; m < members; m++) {
            int time = times[m];
            if (time < next_time) next_time = time, next = m;
            least_last = lower(least_last, last[m]);
        }
    }
    INNER int size() const { return total; }
    INNER int time() const { return next_time; }
    INNER wide take() {
        taken = next;
        wide s = at[taken];
        at[taken] = s + 1;
        times[taken] = s + 1 < end[taken] ? of.t[s + 1] : NEVER;
        return s;
    }
    INNER void mark(int instant) { last[taken] = instant, look(); }
    INNER int reach() const { return least_last; }
    INNER bool of_first() const { return taken == 0; }
};

// ---- the cheapest cover ------------------------------------------------------------------------------------------

struct Rates {
    double product, time, space;
};

INNER double price(const Rates &rates, int duration, int sides) {
    return rates.product * (double(duration) * sides) + rates.time * duration + rates.space * sides;
}

// Lays samples in the room and returns the cost of their cheapest cover by runs. Of equally cheap runs to a boundary
// the shortest is taken.
template <bool BACKS, bool OWNS, class Source>
INNER double cover(Source &from, const Samples &of, const Room &at, const Rates &rates) {
    int n = from.size(), head = 0, tail = 0, enters = 0, known = -1, seen = 0, instant = 0, now = 0, own = 0;
    int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
    at.cost[0] = 0.0, at.reach[0] = -1;
    if (BACKS || OWNS) at.held[0] = 0;
    if (OWNS) at.own[0] = 0.0;
    for (int j = 1; j <= n; j++) {
        wide s = from.take();
        int t = of.t[s];
        if (j == 1 || t != now) instant = j - 1;
        now = t;
        at.t[j - 1] = t, at.x[j - 1] = of.x[s], at.y[j - 1] = of.y[s];
        from.mark(instant);
        if (BACKS || OWNS) at.held[j] = own += from.of_first();
        int p = j < n && from.time() == t ? -1 : from.reach();
        at.reach[j] = p, at.cost[j] = INFINITE;
        if (p < 0) continue;
        // A start leaves the queue as soon as a later one costs no more up to there.
        for (; enters <= p; enters++) {
            double cost = at.cost[enters];
            if (cost == INFINITE) continue;
            while (tail > head && at.cost[at.queue[tail - 1]] >= cost) tail--;
            at.queue[tail++] = enters;
        }
        // From starts up to here a run is divisible.
        for (int divisible = at.reach[p]; head < tail && at.queue[head] <= divisible;) head++;
        if (head == tail) continue;
        int q = tail - 1, i = at.queue[q];
        // The box of (known, j] is kept from one end to the next, so that long runs cost one step each.
        if (i != known) known = seen = i, x0 = x1 = at.x[i], y0 = y1 = at.y[i];
        for (; seen < j; seen++) {
            int x = at.x[seen], y = at.y[seen];
            x0 = lower(x0, x), x1 = upper(x1, x), y0 = lower(y0, y), y1 = upper(y1, y);
        }
        int left = x0, right = x1, low = y0, high = y1, start = -1;
        double best = INFINITE, floor = at.cost[at.queue[head]], paid = 0.0;
        while (true) {
            double each = price(rates, t + 1 - at.t[i], right - left + high - low + 2);
            double run = double(j - i) * each, whole = at.cost[i] + run;
            if (whole < best) best = whole, start = i, paid = each;
            q--;
            if (q < head || floor + run >= best) break;
            int earlier = at.queue[q];
            for (int e = earlier; e < i; e++) {
                int x = at.x[e], y = at.y[e];
                left = lower(left, x), right = upper(right, x), low = lower(low, y), high = upper(high, y);
            }
            i = earlier;
        }
        at.cost[j] = best;
        if (BACKS) at.back[j] = start;
        if (OWNS) at.own[j] = at.own[start] + double(own - at.held[start]) * paid;
    }
    return at.cost[n];
}

// What each pair costs in all (how = 0), or a sample: by the inverse of their number (1), or over it (2).
KERNEL pair_costs(const int *t, const int *x, const int *y, const wide *begin, const int *length, const wide *first,
                  const int *second, wide each, wide n, wide how, wide entries, int *ints, double *doubles,
                  double *costs) {
    Samples of = {t, x, y, begin, length};
    Room at = room_of(ints, doubles, entries, false, false);
    Rates papers = {1.0, 0.0, 0.0};
    for (wide task = THREAD; task < n; task += THREADS) {
        Pair both;
        both.lay(of, first[task / each], second[task]);
        int size = both.size();
        double total = cover<false, false>(both, of, at, papers);
        costs[task] = how == 0 ? total : how == 1 ? total * (1.0 / size) : total / size;
    }
}

// What each picker's own samples cost, merged with all it picked and one more (-1: none).
KERNEL costs_of_picking(const int *t, const int *x, const int *y, const wide *begin, const int *length,
                        const wide *last, const wide *before, const wide *picked, const wide *pickers,
                        const wide *also, const wide *tasks, wide n, wide entries, wide members, int *ints,
                        double *doubles, int *heads, wide *places, double *costs) {
    Samples of = {t, x, y, begin, length};
    Room at = room_of(ints, doubles, entries, false, true);
    Rates papers = {1.0, 0.0, 0.0};
    for (wide nth = THREAD; nth < n; nth += THREADS) {
        wide task = tasks[nth];
        Crowd all;
        all.begin(of, places, heads, members);
        all.add(pickers[task]);
        if (also[task] >= 0) all.add(also[task]);
        for (wide pick = last[pickers[task]]; pick >= 0; pick = before[pick]) all.add(picked[pick]);
        all.look();
        cover<false, true>(all, of, at, papers);
        costs[task] = at.own[all.size()];
    }
}

// Merges each set of people: total costs, boxes by time from row `rows` of their set, how many there are, and the
// row within its set of the box of each of the first member's samples.
KERNEL merge_sets(const int *t, const int *x, const int *y, const wide *begin, const int *length,
                  const wide *set_offsets, const wide *members_of, const wide *tasks, const wide *rows, wide n,
                  double product, double time, double space, wide entries, wide members, int *ints, double *doubles,
                  int *heads, wide *places, int *boxes, wide most_rows, int *box_of, int *many, double *costs) {
    Samples of = {t, x, y, begin, length};
    Room at = room_of(ints, doubles, entries, true, false);
    Rates rates = {product, time, space};
    for (wide nth = THREAD; nth < n; nth += THREADS) {
        wide set = tasks[nth];
        Crowd all;
        all.begin(of, places, heads, members);
        for (wide m = set_offsets[set]; m < set_offsets[set + 1]; m++) all.add(members_of[m]);
        all.look();
        costs[set] = cover<true, false>(all, of, at, rates);
        int runs = 0;
        for (int j = all.size(); j > 0; j = at.back[j]) runs++;
        many[set] = runs;
        wide row = rows[set] + runs;
        for (int j = all.size(); j > 0;) {
            int i = at.back[j], x0 = at.x[i], x1 = x0, y0 = at.y[i], y1 = y0;
            for (int s = i; s < j; s++) {
                x0 = lower(x0, at.x[s]), x1 = upper(x1, at.x[s]), y0 = lower(y0, at.y[s]), y1 = upper(y1, at.y[s]);
            }
            row--;
            int sides[6] = {at.t[i], at.t[j - 1] + 1, x0, x1 + 1, y0, y1 + 1};
            for (int side = 0; side < 6; side++) boxes[side * most_rows + row] = sides[side];
            for (int s = at.held[i]; s < at.held[j]; s++) box_of[rows[set] + s] = int(row - rows[set]);
            j = i;
        }
    }
}

// What each set of people costs by these rates.
KERNEL costs_of_sets(const int *t, const int *x, const int *y, const wide *begin, const int *length,
                     const wide *set_offsets, const wide *members_of, const wide *tasks, wide n, double product,
                     double time, double space, wide entries, wide members, int *ints, double *doubles, int *heads,
                     wide *places, double *costs) {
    Samples of = {t, x, y, begin, length};
    Room at = room_of(ints, doubles, entries, false, false);
    Rates rates = {product, time, space};
    for (wide nth = THREAD; nth < n; nth += THREADS) {
        wide set = tasks[nth];
        Crowd all;
        all.begin(of, places, heads, members);
        for (wide m = set_offsets[set]; m < set_offsets[set + 1]; m++) all.add(members_of[m]);
        all.look();
        costs[set] = cover<false, false>(all, of, at, rates);
    }
}

// ---- the least of many ---------------------------------------------------------------------------------------------

// The least entries so far, the worst on top; ties by row.
struct Heap {
    Column<double> keys;
    Column<int> rows;
    int size, held;

    INNER static bool before(double key, int row, double key2, int row2) {
        return key < key2 || (key == key2 && row < row2);
    }
    INNER double worst() const { return held == size ? keys[0] : INFINITE; }
    INNER void sink(int bottom, double key, int row) {
        int at = 0;
        while (2 * at + 1 < bottom) {
            int below = 2 * at + 1;
            if (below + 1 < bottom && before(keys[below], rows[below], keys[below + 1], rows[below + 1])) below++;
            if (!before(key, row, keys[below], rows[below])) break;
            keys[at] = keys[below], rows[at] = rows[below];
            at = below;
        }
        keys[at] = key, rows[at] = row;
    }
    INNER void keep(double key, int row) {
        if (held < size) {
            int at = held++;
            while (at > 0) {
                int above = (at - 1) / 2;
                if (!before(keys[above], rows[above], key, row)) break;
                keys[at] = keys[above], rows[at] = rows[above];
                at = above;
            }
            keys[at] = key, rows[at] = row;
        } else if (before(key, row, keys[0], rows[0])) {
            sink(size, key, row);
        }
    }
    // Puts the least first; it is no heap any more then.
    INNER void sort() {
        for (int bottom = held - 1; bottom > 0; bottom--) {
            double key = keys[bottom];
            int row = rows[bottom];
            keys[bottom] = keys[0], rows[bottom] = rows[0];
            sink(bottom, key, row);
        }
    }
};

// The least keys of each line and their rows, least first, ties by row.
KERNEL least_of(const double *keys, const int *rows, wide lines, wide width, wide many, double *doubles, int *ints,
                double *least_keys, int *least_rows) {
    Heap heap = {column(doubles, 0, many), column(ints, 0, many), int(many), 0};
    for (wide line = THREAD; line < lines; line += THREADS) {
        heap.held = 0;
        for (wide at = line * width; at < (line + 1) * width; at++) heap.keep(keys[at], rows[at]);
        heap.sort();
        for (int at = 0; at < many; at++) {
            least_keys[line * many + at] = heap.keys[at], least_rows[line * many + at] = heap.rows[at];
        }
    }
}

// ---- nearest squares -------------------------------------------------------------------------------------------------

INNER double unlike(double common, double areas) { return (areas - 2.0 * common) / (areas + 2.0 * common); }

INNER double proxy(double x, double y, double half, double x2, double y2, double half2) {
    double dx = apart(x, x2), dy = apart(y, y2), reach = half + half2;
    if (dx >= reach || dy >= reach) return 1.0 + dx + dy;
    double side = 2.0 * least(half, half2);
    double common = least(side, reach - dx) * least(side, reach - dy);
    return unlike(common, 4.0 * (half * half + half2 * half2));
}

INNER double proxy_floor(double x, double y, double half, const double *extent) {
    double dx = most(0.0, most(extent[0] - x, x - extent[1])), dy = most(0.0, most(extent[2] - y, y - extent[3]));
    double low = extent[4], high = extent[5], reach = half + high;
    if (dx >= reach || dy >= reach) return 1.0 + dx + dy;
    double side = 2.0 * least(half, high);
    double common = least(side, reach - dx) * least(side, reach - dy), areas = half * half + low * low;
    double by_place = unlike(least(common, 2.0 * areas), 4.0 * areas);
    double near = least(most(half, low), high), inner = least(half, near);
    return most(by_place, unlike(4.0 * inner * inner, 4.0 * (half * half + near * near)));
}

// The nearest other squares of people, in no order; ties by row. People come in the order of the tree, from `start`.
KERNEL nearest(const double *x, const double *y, const double *half, const wide *order, const wide *nodes,
               const double *extent, wide n_nodes, wide start, wide n, wide many, double *doubles, int *ints,
               int *found) {
    Heap heap = {column(doubles, 0, many), column(ints, 0, many), int(many), 0};
    int stack[DEEPEST];
    double floors[DEEPEST];
    for (wide task = THREAD; task < n; task += THREADS) {
        wide i = order[start + task];
        int top = 1;
        heap.held = 0, stack[0] = 0, floors[0] = 0.0;
        while (top > 0) {
            top--;
            wide v = stack[top];
            if (floors[top] > heap.worst()) continue;
            if (2 * v + 2 < n_nodes) {
                double a = proxy_floor(x[i], y[i], half[i], extent + 6 * (2 * v + 1));
                double b = proxy_floor(x[i], y[i], half[i], extent + 6 * (2 * v + 2));
                // The nearer child is looked at first: it lies on top of the stack.
                bool left = a <= b;
                stack[top] = int(2 * v + (left ? 2 : 1)), floors[top] = most(a, b);
                stack[top + 1] = int(2 * v + (left ? 1 : 2)), floors[top + 1] = least(a, b);
                top += 2;
                continue;
            }
            for (wide at = nodes[2 * v]; at < nodes[2 * v + 1]; at++) {
                wide r = order[at];
                if (r != i) heap.keep(proxy(x[i], y[i], half[i], x[r], y[r], half[r]), int(r));
            }
        }
        for (int at = 0; at < many; at++) found[task * many + at] = heap.rows[at];
    }
}
